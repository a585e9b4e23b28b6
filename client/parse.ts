import type { z } from 'zod';
import { CountersignError, describe } from './errors';

/**
 * Parses what a caller handed in. Throws `invalid_input` that names the first wrong field, what was expected and what
 * came; further ones are listed behind it. `todo` says what to do.
 */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown, todo: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues
    .slice(0, 10)
    .map((issue) => ({ field: fieldOf(issue), text: issueText(issue, value) }));
  const text = issues.map((issue) => `${issue.field}: ${issue.text}`).join('; ');
  throw new CountersignError('invalid_input', `${text}. ${todo}`, { field: issues[0]?.field ?? 'input' });
}

function fieldOf(issue: z.core.$ZodIssue): string {
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path;
  return path.map(String).join('.').slice(0, 200) || 'input';
}

function issueText(issue: z.core.$ZodIssue, root: unknown): string {
  if (issue.code === 'unrecognized_keys') return 'no such member is known';
  // zod's own text already says "expected X"; it says what came only for some codes.
  const text = issue.message.replace(/^Invalid input: /, '').replace(/, received .*$/, '');
  return `${text}, got ${describe(at(root, issue.path))}`;
}

function at(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
