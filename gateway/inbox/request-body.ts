import type { Context } from 'hono';
import type { z } from 'zod';
import { parseJsonBody, readBody } from '../../client/http-body';
import { parseInput } from '../../client/parse';
import { NOTHING_DONE } from '../callers';

/** The bytes of a login, an enrolment or a report; answers may be larger. */
const MAX_SMALL_BODY = 64 * 1024;

/** Reads and checks a JSON body. Throws `too_large` or `invalid_input`. */
export async function requestBody<T>(
  c: Context,
  schema: z.ZodType<T>,
  { max = MAX_SMALL_BODY, whatToDo = NOTHING_DONE }: { readonly max?: number; readonly whatToDo?: string } = {},
): Promise<T> {
  return parseInput(schema, parseJsonBody(await readBody(c.req.raw, max)), whatToDo);
}
