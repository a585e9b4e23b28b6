import type { JsonObject, JsonValue } from '../../../policy/contracts/canonical-json';
import { memoizeByObject } from '../../../policy/text/memoize';

/** A mask is `true` or has the shape of its value. Anything else hides nothing. */
export function maskOf(value: JsonValue | undefined): JsonValue {
  return value === undefined ? false : value;
}

/** The value with null in each location that the mask marks. */
export function withoutHidden(value: JsonValue, mask: JsonValue): JsonValue {
  if (mask === true) return null;
  if (typeof mask !== 'object' || mask === null || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const masks = Array.isArray(mask) ? (mask as readonly JsonValue[]) : [];
    return value.map((item: JsonValue, i) => withoutHidden(item, masks[i] ?? false));
  }
  const copy = Object.create(null) as { [key: string]: JsonValue };
  for (const [key, item] of Object.entries(value as JsonObject)) {
    const below = Object.hasOwn(mask, key) ? ((mask as JsonObject)[key] as JsonValue) : false;
    copy[key] = withoutHidden(item, below);
  }
  return copy;
}

/** `true` at each location that a mask marks and whose value differs between `before` and `after`; has the shape of the values. */
export function changedHidden(before: JsonValue, after: JsonValue, masks: readonly [JsonValue, JsonValue]): JsonValue {
  if (!masks.some(containsTrue)) return false;
  // What is new has nothing before it, and is read member by member, too.
  const values = [before, after].filter(isContainer);
  if (masks.includes(true) || values.length === 0) return !sameJson(before, after);
  const lists = values.filter((value) => Array.isArray(value)).length;
  if (lists === 1 && values.length === 2) return true;
  const below = (name: string): JsonValue =>
    changedHidden(memberOf(before, name), memberOf(after, name), [memberOf(masks[0], name), memberOf(masks[1], name)]);
  const names = [...new Set(values.flatMap((value) => Object.keys(value)))];
  if (lists > 0) return names.map(below);
  const copy = Object.create(null) as { [key: string]: JsonValue };
  for (const name of names) copy[name] = below(name);
  return copy;
}

export function sameJson(a: JsonValue, b: JsonValue): boolean {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) =>
        Object.hasOwn(b, key) && sameJson((a as JsonObject)[key] as JsonValue, (b as JsonObject)[key] as JsonValue),
    )
  );
}

type Container = JsonObject | readonly JsonValue[];

function isContainer(value: JsonValue): value is Container {
  return typeof value === 'object' && value !== null;
}

/** A member of an object, or an item of a list by its index as text; null if it is missing. */
function memberOf(value: JsonValue, name: string): JsonValue {
  return isContainer(value) && Object.hasOwn(value, name) ? ((value as JsonObject)[name] as JsonValue) : null;
}

/** Whether the mask marks anything. */
export function containsTrue(mask: JsonValue): boolean {
  return typeof mask === 'object' && mask !== null ? hasTrue(mask) : mask === true;
}

/** Rules ask this many times for the same mask. */
const hasTrue = memoizeByObject((mask: object): boolean => (Object.values(mask) as JsonValue[]).some(containsTrue));
