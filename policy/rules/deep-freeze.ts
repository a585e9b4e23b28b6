import { isPlain } from '../contracts/canonical-json';

/**
 * Objects that `deepFreeze` has frozen. `Object.isFrozen` is not enough: an object that was frozen elsewhere may have members
 * that were not.
 */
const deeplyFrozen = new WeakSet<object>();

/**
 * Freezes a value and all its members in place and returns it. A second call with the same value is a no-op. Only the root is
 * remembered: remembering each member of large facts costs ten times as much as freezing them.
 * Throws TypeError for a Map, a Set, a Date and other objects that are not plain: freezing them does not protect what they contain,
 * and a condition would read them as empty.
 */
export function deepFreeze<T extends object | null>(value: T): T {
  if (value === null || deeplyFrozen.has(value)) return value;
  /** Visited objects that were already frozen: elsewhere, or here if they are shared or circular. */
  const seenFrozen = new Set<object>();
  const open: object[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    // A typed array cannot be frozen.
    if (ArrayBuffer.isView(next)) continue;
    if (!Array.isArray(next) && !isPlain(next))
      throw new TypeError(
        `expected plain objects and arrays, got a ${(next.constructor as { name?: string } | undefined)?.name || 'class instance'}`,
      );
    if (Object.isFrozen(next)) {
      if (seenFrozen.has(next)) continue;
      seenFrozen.add(next);
    } else Object.freeze(next);
    if (Array.isArray(next)) {
      for (const member of next as readonly unknown[]) if (isObject(member)) open.push(member);
    } else {
      for (const key in next) {
        const member = (next as Readonly<Record<string, unknown>>)[key];
        if (isObject(member)) open.push(member);
      }
    }
  }
  deeplyFrozen.add(value);
  return value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
