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

/** Whether the mask marks anything. */
export function containsTrue(mask: JsonValue): boolean {
  return typeof mask === 'object' && mask !== null ? hasTrue(mask) : mask === true;
}

/** Rules ask this many times for the same mask. */
const hasTrue = memoizeByObject((mask: object): boolean => (Object.values(mask) as JsonValue[]).some(containsTrue));
