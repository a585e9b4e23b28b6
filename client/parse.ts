import type { z } from 'zod';
import { fieldIssues, issuesText } from '../policy/contracts/issues';
import { CountersignError, describe } from './errors';

/**
 * Parses what a caller handed in. Throws `invalid_input` that names the first wrong field, what was expected and what
 * came; further ones are listed behind it. `todo` says what to do.
 */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown, todo: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = fieldIssues(parsed.error, value, 'input', describe).slice(0, 10);
  throw new CountersignError('invalid_input', `${issuesText(issues)}. ${todo}`, { field: issues[0]?.field ?? 'input' });
}
