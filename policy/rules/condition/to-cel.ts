import { celMap, type CelInput } from '@bufbuild/cel';
import type { JsonValue } from '../../contracts/canonical-json';

/** Limits on the values of a condition. The cost of nested comprehensions multiplies, so their lists must be shorter. */
const MAX_LIST = 2000;
const MAX_LIST_NESTED = 200;
const MAX_TEXT = 4096;
const MAX_DEPTH = 32;

/** A value exceeds the limits of a condition. The condition then fails, which is a BLOCK. */
export class ValueTooLarge extends Error {}

/**
 * Converts JSON to CEL values: integers to int, so that `rows == 3` works; objects to maps, so that inherited members are not
 * visible. A member of extracted facts that is undefined is absent, as in JSON. Throws ValueTooLarge.
 */
export function toCel(value: JsonValue, nesting: number, depth = 0): CelInput {
  if (depth > MAX_DEPTH) throw new ValueTooLarge(`a value is nested deeper than ${MAX_DEPTH}`);
  if (typeof value === 'string') {
    if (value.length > MAX_TEXT) throw new ValueTooLarge(`a text has ${value.length} characters, limit ${MAX_TEXT}`);
    return value;
  }
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  const limit = nesting > 1 ? MAX_LIST_NESTED : MAX_LIST;
  const size = Array.isArray(value) ? value.length : Object.keys(value).length;
  if (size > limit) throw new ValueTooLarge(`a list or object has ${size} members, limit ${limit}`);
  if (Array.isArray(value)) return value.map((item: JsonValue) => toCel(item, nesting, depth + 1));
  return toMap(
    Object.entries(value as Record<string, JsonValue | undefined>).flatMap(([key, member]) =>
      member === undefined ? [] : [[key, toCel(member, nesting, depth + 1)] as const],
    ),
  );
}

/** Version 0.6.1 of the library treats a null member as absent in `has`, so `"x" in metadata` would be false for an agent that writes null. */
function toMap(entries: readonly (readonly [string, CelInput])[]): CelInput {
  const members = new Map(entries);
  return Object.defineProperty(celMap(members), 'has', {
    value: (key: unknown) => typeof key === 'string' && members.has(key),
  });
}
