import type { z } from 'zod';

/** One validation error: the field, what was expected and what was received. */
export interface FieldIssue {
  /** Path of member names from the root, joined by dots. */
  readonly field: string;
  readonly message: string;
}

/**
 * Converts a zod error to issues for people and logs. `rootName` is the field name for errors of the value itself. `describe`
 * renders the received value; the default gives only its type and size, because the value may be a secret.
 */
export function fieldIssues(
  { issues }: z.ZodError,
  value: unknown,
  rootName: string,
  describe: (value: unknown) => string = kindOf,
): FieldIssue[] {
  return issues.map((issue) => {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
    const field = [...issue.path, ...unknown].map(String).join('.').slice(0, 200) || rootName;
    return { field, message: messageOf(issue, () => describe(valueAt(value, issue.path))) };
  });
}

/** `field: message; field: message`. */
export function issuesText(issues: readonly FieldIssue[]): string {
  return issues.map((i) => `${i.field}: ${i.message}`).join('; ');
}

function messageOf(issue: z.core.$ZodIssue, got: () => string): string {
  if (issue.code === 'unrecognized_keys') return 'unknown member';
  // zod's message already contains "expected X", but the received value only for some codes.
  const text = issue.message.replace(/^Invalid input: /, '').replace(/, received .*$/, '');
  return text.includes(', got ') ? text : `${text}, got ${got()}`;
}

/** The value at a path; undefined if the path does not exist. */
export function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
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
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'string') return `a string of ${value.length} characters`;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `an ${typeof value}`;
}
