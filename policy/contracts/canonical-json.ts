/**
 * Canonical JSON (RFC 8785), strict: each value that is hashed or signed has exactly one encoding.
 *
 * J1 Keys are ordered by UTF-16 code unit, never by locale: locale order differs between machines.
 * J2 Values that JSON cannot represent throw (undefined, functions, bigint, symbols, NaN, Infinity, Map, Set, RegExp, Date,
 *    class instances, lone surrogates, cycles, holes, named members of an array). JSON.stringify drops or changes such values,
 *    so different inputs would have the same hash.
 */

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** For values of parsed JSON. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Deeper values are refused. Hashed records are far shallower. */
export const MAX_DEPTH = 200;

/** The canonical encoding of `value`. Throws TypeError with the JSON pointer of the first value that JSON cannot represent. */
export function canonicalJson(value: unknown): string {
  const text = canonicalJsonOrNull(value);
  if (text !== null) return text;
  const { what, pointer } = faultIn(value, '', new Set()) ?? { what: 'a value that changes', pointer: '' };
  throw new TypeError(
    `Not canonical JSON: ${what} at "${pointer}"; only null, booleans, finite numbers, strings, arrays and plain objects can be hashed`,
  );
}

/** The canonical encoding of `value`; null if it has none. */
export function canonicalJsonOrNull(value: unknown): string | null {
  return write(value, 0);
}

/** Encodings of values that `frozenJson` froze. */
const encodings = new WeakMap<object, string>();
/** Levels that such a value may have, so that one inside of another value is not deeper than MAX_DEPTH. */
const FROZEN_DEPTH = 20;

/**
 * Freezes a value with all its members and encodes it once, for values that are hashed and compared several times. It must come from JSON
 * or a schema, without accessors. A value that has no encoding, or has too many levels, is returned as it is.
 */
export function frozenJson<T extends object>(value: T): T {
  if (encodings.has(value)) return value;
  const text = write(value, MAX_DEPTH - FROZEN_DEPTH);
  if (text === null) return value;
  freeze(value);
  encodings.set(value, text);
  return value;
}

/** Only for a value that has an encoding, so it has no cycle. */
function freeze(value: object): void {
  Object.freeze(value);
  for (const member of Object.values(value) as unknown[])
    if (typeof member === 'object' && member !== null) freeze(member);
}

/** Printable ASCII that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The encoding, or null. `faultIn` finds the reason later, so that valid values do not pay for it. */
function write(value: unknown, depth: number): string | null {
  switch (typeof value) {
    case 'string':
      return writeString(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : null;
    case 'object':
      if (value === null) return 'null';
      if (depth >= MAX_DEPTH) return null;
      if (depth <= MAX_DEPTH - FROZEN_DEPTH) {
        const known = encodings.get(value);
        if (known !== undefined) return known;
      }
      return Array.isArray(value) ? writeArray(value, depth) : writeObject(value, depth);
    default:
      return null;
  }
}

function writeString(text: string): string | null {
  return PLAIN.test(text) ? `"${text}"` : isWellFormed(text) ? JSON.stringify(text) : null;
}

function writeArray(array: readonly unknown[], depth: number): string | null {
  if (Object.keys(array).length > array.length) return null;
  let text = '';
  // Not map(): it skips holes, which must be refused as undefined.
  for (let i = 0; i < array.length; i++) {
    const member = write(array[i], depth + 1);
    if (member === null) return null;
    text += i === 0 ? member : `,${member}`;
  }
  return `[${text}]`;
}

function writeObject(object: object, depth: number): string | null {
  if (!isPlain(object) || Object.getOwnPropertySymbols(object).length > 0) return null;
  let text = '';
  for (const key of sorted(Object.keys(object))) {
    const member = write((object as Record<string, unknown>)[key], depth + 1);
    const name = names.get(key) ?? writeName(key);
    if (member === null || name === null) return null;
    text += text === '' ? name + member : `,${name}${member}`;
  }
  return `{${text}}`;
}

/** Sorting costs more than finding that the keys are in order already, as those of parsed canonical JSON are. */
function sorted(keys: string[]): string[] {
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] ?? '') > (keys[i] ?? '')) return keys.sort();
  return keys;
}

/** Names of members with their colons, as they are written: most objects have the same few. Short, and cleared when there are MAX_NAMES. */
const names = new Map<string, string>();
const MAX_NAMES = 1000;
const MAX_NAME_LENGTH = 64;

function writeName(key: string): string | null {
  const text = writeString(key);
  if (text === null) return null;
  if (names.size >= MAX_NAMES) names.clear();
  if (key.length <= MAX_NAME_LENGTH) names.set(key, `${text}:`);
  return `${text}:`;
}

interface Fault {
  readonly what: string;
  readonly pointer: string;
}

/** The first value that JSON cannot represent; null if there is none. `open`: the objects that contain this value. */
function faultIn(value: unknown, pointer: string, open: Set<object>): Fault | null {
  switch (typeof value) {
    case 'boolean':
      return null;
    case 'number':
      return Number.isFinite(value) ? null : { what: String(value), pointer };
    case 'string':
      return isWellFormed(value) ? null : { what: 'a lone surrogate', pointer };
    case 'object':
      break;
    default:
      return { what: typeof value, pointer };
  }
  if (value === null) return null;
  const what = faultOfObject(value, open);
  if (what !== null) return { what, pointer };
  open.add(value);
  // The keys of an array include its holes.
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value).sort()) {
    const member = (value as Record<string | number, unknown>)[key];
    const fault = faultIn(member, `${pointer}/${escapePointer(String(key))}`, open);
    if (fault !== null) return fault;
  }
  open.delete(value);
  return null;
}

function faultOfObject(value: object, open: ReadonlySet<object>): string | null {
  if (open.size >= MAX_DEPTH) return `nesting deeper than ${MAX_DEPTH}`;
  if (open.has(value)) return 'a cycle';
  if (Array.isArray(value)) return Object.keys(value).length > value.length ? 'an array with a named member' : null;
  if (!isPlain(value)) return `a ${value.constructor?.name ?? 'class instance'}`;
  if (Object.getOwnPropertySymbols(value).length > 0) return 'a symbol key';
  return Object.keys(value).every(isWellFormed) ? null : 'a key with a lone surrogate';
}

/** Not only `prototype === Object.prototype`: objects of another realm (Temporal's sandbox, Jest) have their own Object.prototype. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** RFC 6901 escaping of one reference token. */
export function escapePointer(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}

const SURROGATE = /[\ud800-\udfff]/;

/** Replaces String.prototype.isWellFormed, which is not available in the workflow sandbox on Node 20. */
export function isWellFormed(text: string): boolean {
  if (!SURROGATE.test(text)) return true;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const next = text.charCodeAt(i + 1);
    if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return false;
    i++;
  }
  return true;
}

/** Replaces each lone surrogate with U+FFFD. For truncated or untrusted text, which could not be hashed otherwise. */
export function toWellFormed(text: string): string {
  return isWellFormed(text) ? text : Array.from(text, (c) => (isWellFormed(c) ? c : '\ufffd')).join('');
}
