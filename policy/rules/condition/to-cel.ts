import { celMap, type CelInput } from '@bufbuild/cel';
import type { JsonValue } from '../../contracts/canonical-json';

/** Longest list and text that a condition meets. Nested comprehensions multiply, so theirs is shorter. */
const MAX_LIST = 2000;
const MAX_LIST_NESTED = 200;
const MAX_TEXT = 4096;
const MAX_DEPTH = 32;

/** Thrown where a value is larger than a condition may meet: an error of the condition, hence a BLOCK. */
export class TooLarge extends Error {}

/** JSON as CEL reads it: whole numbers as int, so that `rows == 3` is what it says; objects as maps, so that nothing is inherited. */
export function toCel(value: JsonValue, nesting: number, depth = 0): CelInput {
  if (depth > MAX_DEPTH) throw new TooLarge(`nested deeper than ${MAX_DEPTH}`);
  if (typeof value === 'string') {
    if (value.length > MAX_TEXT) throw new TooLarge(`a text of ${value.length} characters`);
    return value;
  }
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  const limit = nesting > 1 ? MAX_LIST_NESTED : MAX_LIST;
  const size = Array.isArray(value) ? value.length : Object.keys(value).length;
  if (size > limit) throw new TooLarge(`a list or object of ${size} members, of which a condition may meet ${limit}`);
  if (Array.isArray(value)) return value.map((item: JsonValue) => toCel(item, nesting, depth + 1));
  return toMap(
    Object.entries(value as Record<string, JsonValue>).map(
      ([key, member]) => [key, toCel(member, nesting, depth + 1)] as const,
    ),
  );
}

/** The library's `has` takes a member that is null for absent (0.6.1): `"x" in metadata` would then be false for an agent that writes null. */
function toMap(entries: readonly (readonly [string, CelInput])[]): CelInput {
  const members = new Map(entries);
  return Object.defineProperty(celMap(members), 'has', {
    value: (key: unknown) => typeof key === 'string' && members.has(key),
  });
}
