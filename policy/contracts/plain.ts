/**
 * Strict checks of plain data for the workflow sandbox. Temporal makes every module anew for each workflow, and building a
 * schema of a schema library there cost more than the rest of a review; these are functions. Outside of the sandbox the
 * zod schemas beside them are the door; where both describe one shape, a test holds that they agree.
 *
 * Q1 Unknown members are refused, and so is `__proto__`: what is read must be what was sent.
 * Q2 What is returned shares no object with what came in.
 * Q3 An issue names its place, what was expected and what kind of thing came, never its content (P12).
 */
import { MAX_DEPTH, type JsonValue } from './canonical-json';

export interface PlainIssue {
  /** Members from the outside in, joined by dots; for the value itself, what `read` was told that it is. */
  readonly field: string;
  readonly message: string;
}

export type Read<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: readonly PlainIssue[] };

/** Returns the value, or pushes at least one issue. */
export type Reader<T> = (value: unknown, place: string, issues: PlainIssue[]) => T;

/** What a reader returns where it has pushed an issue; `read` never hands it on. */
const NOTHING = undefined as never;

export function read<T>(reader: Reader<T>, value: unknown, whole: string): Read<T> {
  const issues: PlainIssue[] = [];
  const made = reader(value, '', issues);
  if (issues.length === 0) return { ok: true, value: made };
  return { ok: false, issues: issues.map((i) => ({ ...i, field: i.field || whole })) };
}

/** `field: message; field: message`. */
export function issuesText(issues: readonly PlainIssue[]): string {
  return issues.map((i) => `${i.field}: ${i.message}`).join('; ');
}

function refuse(issues: PlainIssue[], field: string, expected: string, got: unknown): never {
  issues.push({ field, message: `expected ${expected}, got ${kindOf(got)}` });
  return NOTHING;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'string') return `a text of ${value.length} characters`;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `an ${typeof value}`;
}

function inside(place: string, member: string | number): string {
  return place === '' ? String(member) : `${place}.${member}`;
}

/** Lengths in UTF-16 code units, as everywhere. */
export function text(bounds: { min?: number; max?: number; pattern?: RegExp; expected?: string } = {}): Reader<string> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER, pattern } = bounds;
  const expected =
    bounds.expected ?? (bounds.max === undefined && min === 0 ? 'a text' : `a text of ${min} to ${max} characters`);
  return (value, place, issues) =>
    typeof value === 'string' && value.length >= min && value.length <= max && (pattern?.test(value) ?? true)
      ? value
      : refuse(issues, place, expected, value);
}

export function oneOf<const T extends string | number>(...values: readonly T[]): Reader<T> {
  return (value, place, issues) =>
    values.includes(value as T)
      ? (value as T)
      : refuse(issues, place, `one of ${values.map((v) => JSON.stringify(v)).join(', ')}`, value);
}

export const flag: Reader<boolean> = (value, place, issues) =>
  typeof value === 'boolean' ? value : refuse(issues, place, 'true or false', value);

export function whole(min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): Reader<number> {
  return (value, place, issues) =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
      ? (value as number)
      : refuse(issues, place, `a whole number from ${min} to ${max}`, value);
}

/** Above `from`, up to `to`. */
export function numberIn(from: number, to: number): Reader<number> {
  return (value, place, issues) =>
    typeof value === 'number' && value > from && value <= to
      ? value
      : refuse(issues, place, `a number above ${from}, up to ${to}`, value);
}

export function nullable<T>(reader: Reader<T>): Reader<T | null> {
  return (value, place, issues) => (value === null ? null : reader(value, place, issues));
}

export function listOf<T>(reader: Reader<T>, min = 0, max = Number.MAX_SAFE_INTEGER): Reader<T[]> {
  return (value, place, issues) => {
    if (!Array.isArray(value) || value.length < min || value.length > max)
      return refuse(issues, place, max > 1e9 ? 'a list' : `a list of ${min} to ${max}`, value);
    return Array.from(value as unknown[], (item, i) => reader(item, inside(place, i), issues));
  };
}

/** Exactly these, in order. */
export function pairOf<A, B>(first: Reader<A>, second: Reader<B>): Reader<[A, B]> {
  return (value, place, issues) =>
    Array.isArray(value) && value.length === 2
      ? [first(value[0], inside(place, 0), issues), second(value[1], inside(place, 1), issues)]
      : refuse(issues, place, 'a list of 2', value);
}

/** Any names, each read by `names`. */
export function recordOf<T>(reader: Reader<T>, names: Reader<string> = text()): Reader<Record<string, T>> {
  return (value, place, issues) => {
    if (!isObject(value)) return refuse(issues, place, 'an object', value);
    const made: Record<string, T> = {};
    for (const name of Object.keys(value)) {
      if (name === '__proto__') refuse(issues, place, 'no member of that name', name);
      else made[names(name, place, issues)] = reader(value[name], inside(place, name), issues);
    }
    return made;
  };
}

/** JSON of any shape, up to the depth that can be hashed. */
export const json: Reader<JsonValue> = (value, place, issues) => readJson(value, place, issues, 0);

function readJson(value: unknown, place: string, issues: PlainIssue[], depth: number): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number')
    return Number.isFinite(value) ? value : refuse(issues, place, 'a finite number', value);
  if (depth > MAX_DEPTH) return refuse(issues, place, `nesting of at most ${MAX_DEPTH}`, value);
  if (Array.isArray(value))
    return Array.from(value as unknown[], (item, i) => readJson(item, inside(place, i), issues, depth + 1));
  return recordOf((member, at, found) => readJson(member, at, found, depth + 1))(value, place, issues);
}

export interface Optional<T> {
  readonly reader: Reader<T>;
  /** Absent: the member stays away. */
  readonly fallback?: () => T;
}

export function optional<T>(reader: Reader<T>): Optional<T> {
  return { reader };
}

export function withDefault<T>(reader: Reader<T>, fallback: () => T): Required<Optional<T>> {
  return { reader, fallback };
}

type Fields<T> = {
  readonly [K in keyof T]-?: undefined extends T[K]
    ? Optional<Exclude<T[K], undefined>>
    : Reader<T[K]> | Required<Optional<T[K]>>;
};

/** An object with exactly these members. */
export function strict<T extends object>(fields: Fields<T>): Reader<T> {
  const members = Object.entries(fields) as [string, Reader<unknown> | Optional<unknown>][];
  const known = new Set(members.map(([name]) => name));
  return (value, place, issues) => {
    if (!isObject(value)) return refuse(issues, place, 'an object', value);
    const made: Record<string, unknown> = {};
    for (const [name, field] of members) {
      const member = value[name];
      const optional = typeof field !== 'function';
      if (optional && member === undefined) {
        if (field.fallback !== undefined) made[name] = field.fallback();
      } else made[name] = (optional ? field.reader : field)(member, inside(place, name), issues);
    }
    for (const name of Object.keys(value))
      if (!known.has(name))
        issues.push({ field: inside(place, name.slice(0, 100)), message: 'no such member is known' });
    return made as T;
  };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
