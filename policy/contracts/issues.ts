import type { z } from 'zod';

/** One thing wrong with a value that was sent: where, what was expected and what came. */
export interface FieldIssue {
  /** Members from the outside in, joined by dots. */
  readonly field: string;
  readonly message: string;
}

/**
 * What zod found, for people and logs. `whole` names the value itself; `describe` says what came, and by default says only
 * its kind, since the value may be a secret.
 */
export function fieldIssues(
  { issues }: z.ZodError,
  value: unknown,
  whole: string,
  describe: (value: unknown) => string = kindOf,
): FieldIssue[] {
  return issues.map((issue) => {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    const field = [...issue.path, ...unknown].map(String).join('.').slice(0, 200) || whole;
    return { field, message: messageOf(issue, () => describe(at(value, issue.path))) };
  });
}

/** `field: message; field: message`. */
export function issuesText(issues: readonly FieldIssue[]): string {
  return issues.map((i) => `${i.field}: ${i.message}`).join('; ');
}

function messageOf(issue: z.core.$ZodIssue, got: () => string): string {
  if (issue.code === 'unrecognized_keys') return 'no such member is known';
  // zod's own text already says "expected X"; it says what came only for some codes.
  const text = issue.message.replace(/^Invalid input: /, '').replace(/, received .*$/, '');
  return text.includes(', got ') ? text : `${text}, got ${got()}`;
}

function at(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'string') return `a text of ${value.length} characters`;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `an ${typeof value}`;
}
