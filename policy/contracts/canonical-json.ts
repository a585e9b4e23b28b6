/**
 * Canonical JSON, RFC 8785, strict: what is hashed and signed has exactly one text.
 *
 * J1 Keys are ordered by UTF-16 code unit, never by locale: locale order differs between machines (T35).
 * J2 What JSON cannot say throws (undefined, functions, bigint, symbols, NaN, Infinity, Map, Set, RegExp, Date, class
 *    instances, lone surrogates, cycles, holes, named members of an array): a vanished member would hash like an absent one (T10, T36).
 */

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Deeper values are refused; nothing that we hash comes near it. */
export const MAX_DEPTH = 200;

/** The canonical text of `value`. Throws TypeError naming the JSON pointer of what cannot be said in JSON. */
export function canonicalJson(value: unknown): string {
  return write(value, '', 0, new Set());
}

function write(value: unknown, pointer: string, depth: number, open: Set<object>): string {
  switch (typeof value) {
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (!Number.isFinite(value)) refuse(pointer, String(value));
      return JSON.stringify(value);
    case 'string':
      if (!isWellFormed(value)) refuse(pointer, 'a lone surrogate');
      return JSON.stringify(value);
    case 'object':
      break;
    default:
      return refuse(pointer, typeof value);
  }
  if (value === null) return 'null';
  if (depth >= MAX_DEPTH) refuse(pointer, `nesting deeper than ${MAX_DEPTH}`);
  if (open.has(value)) refuse(pointer, 'a cycle');
  open.add(value);
  const text = Array.isArray(value)
    ? writeArray(value, pointer, depth, open)
    : writeObject(value, pointer, depth, open);
  open.delete(value);
  return text;
}

function writeArray(array: readonly unknown[], pointer: string, depth: number, open: Set<object>): string {
  const items: string[] = [];
  if (Object.keys(array).length > array.length) refuse(pointer, 'an array with a named member');
  // Not map(): it skips holes, and a hole is undefined.
  for (let i = 0; i < array.length; i++) items.push(write(array[i], `${pointer}/${i}`, depth + 1, open));
  return `[${items.join(',')}]`;
}

function writeObject(object: object, pointer: string, depth: number, open: Set<object>): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  // By name, not by identity: objects of another realm (Temporal's sandbox, Jest) have their own Object.prototype.
  const plain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!plain) refuse(pointer, `a ${object.constructor?.name ?? 'class instance'}`);
  if (Object.getOwnPropertySymbols(object).length > 0) refuse(pointer, 'a symbol key');
  const members: string[] = [];
  for (const key of Object.keys(object).sort()) {
    if (!isWellFormed(key)) refuse(pointer, 'a key with a lone surrogate');
    const member = (object as Record<string, unknown>)[key];
    members.push(`${JSON.stringify(key)}:${write(member, `${pointer}/${escapePointer(key)}`, depth + 1, open)}`);
  }
  return `{${members.join(',')}}`;
}

function refuse(pointer: string, what: string): never {
  throw new TypeError(
    `Not canonical JSON: ${what} at "${pointer}"; only null, booleans, finite numbers, strings, arrays and plain objects can be hashed`,
  );
}

/** RFC 6901 escaping of one reference token. */
export function escapePointer(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** String.prototype.isWellFormed is missing in the workflow sandbox of Node 20's target. */
export function isWellFormed(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const next = text.charCodeAt(i + 1);
    if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return false;
    i++;
  }
  return true;
}

/** Each lone surrogate replaced by U+FFFD: for text that was cut, or that others wrote, before it is hashed. */
export function toWellFormed(text: string): string {
  return isWellFormed(text) ? text : Array.from(text, (c) => (isWellFormed(c) ? c : '\ufffd')).join('');
}
