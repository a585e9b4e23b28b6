import { z } from 'zod';
import { fieldIssues, issuesText } from './issues';

/** Throws TypeError with each wrong member. For definitions of extensions, which may be plain JavaScript. */
export function requireShape(what: string, shape: z.ZodType, value: unknown): void {
  const problem = shapeProblem(shape, value, 'definition');
  if (problem !== null) throw new TypeError(`${what}: ${problem}`);
}

/** Each wrong member: its name, what was expected and what was given. Null if all are right. */
export function shapeProblem(shape: z.ZodType, value: unknown, rootName = 'result'): string | null {
  const parsed = shape.safeParse(value);
  return parsed.success ? null : issuesText(fieldIssues(parsed.error, value, rootName, described));
}

/** A definition's own name, for its errors. */
export function givenName(value: unknown, member: string): string {
  const name: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, member) : undefined;
  return typeof name === 'string' ? ` "${name.slice(0, 100)}"` : '';
}

/** An async function would return a promise where a result is read at once. */
export const SyncFunction = z.custom((value) => typeof value === 'function' && !isAsync(value), {
  message: 'expected a function that is not async',
});
export const AnyFunction = z.custom((value) => typeof value === 'function', { message: 'expected a function' });
export const ZodSchema = z.custom((value) => hasFunction(value, 'safeParse'), {
  message: 'expected a zod schema, such as z.strictObject({})',
});
export const ParserShape = z.strictObject({ name: z.string().min(1).max(100), version: z.string().min(1).max(100) });

/** What was given instead, for messages. Definitions and results of extensions: only kinds and short names, no data of a diff. */
export function described(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'function') return isAsync(value) ? 'an async function' : 'a function';
  if (isPromise(value)) return 'a promise';
  if (typeof value === 'string')
    return value.length <= 100 ? JSON.stringify(value) : `a string of ${value.length} characters`;
  return typeof value === 'object' ? 'an object' : `the ${typeof value} ${String(value)}`;
}

function isAsync(value: object): boolean {
  return Object.prototype.toString.call(value) !== '[object Function]';
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return hasFunction(value, 'then');
}

function hasFunction(value: unknown, member: string): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, member) === 'function';
}
