/** Frozen by us, to the last member. An object that its maker froze may hold members that it did not. */
const wholes = new WeakSet<object>();

/**
 * Freezes a value to its last member, in place; a second time costs nothing. Only the root is remembered: to remember each
 * member of large facts costs ten times what freezing them does.
 */
export function frozenWhole<T extends object | null>(value: T): T {
  if (value === null || wholes.has(value)) return value;
  /** Met when they were frozen already: by their maker, or by us where they are shared or hold themselves. */
  const metFrozen = new Set<object>();
  const open: object[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    // A typed array cannot be frozen.
    if (ArrayBuffer.isView(next)) continue;
    if (Object.isFrozen(next)) {
      if (metFrozen.has(next)) continue;
      metFrozen.add(next);
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
  wholes.add(value);
  return value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
