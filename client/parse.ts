import { z } from 'zod';
import { Sha256Hex } from '../policy/contracts/diff';
import { fieldIssues, issuesText } from '../policy/contracts/issues';
import { CountersignError, describe } from './errors';

/**
 * Parses a caller's input. Throws `invalid_input` with at most ten issues: field, expected and received value. `field` is that of
 * the first issue; `whatToDo` is the last sentence of the message.
 */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown, whatToDo: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = fieldIssues(parsed.error, value, 'input', describe).slice(0, 10);
  throw new CountersignError('invalid_input', `${issuesText(issues)}. ${whatToDo}`, {
    field: issues[0]?.field ?? 'input',
  });
}

export const Milliseconds = z.custom<number>(
  (value) => typeof value === 'number' && value >= 0,
  'expected a number of milliseconds that is not negative',
);

/** Throws `invalid_input` for NaN, of which no wait would end, and for other values that are not a time. */
export function parseTimeout(timeoutMs: number): number {
  return parseInput(z.object({ timeoutMs: Milliseconds }), { timeoutMs }, 'Pass the longest time to wait').timeoutMs;
}

/** Throws `invalid_input` unless the text is a change id. */
export function parseChangeId(changeId: string): string {
  return parseInput(z.object({ changeId: Sha256Hex }), { changeId }, 'Pass the changeId that `submit` returned')
    .changeId;
}
