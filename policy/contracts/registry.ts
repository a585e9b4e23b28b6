export interface Registry<T> {
  readonly get: (key: string) => T | undefined;
  readonly keys: () => readonly string[];
}

/**
 * Creates an immutable registry. Throws TypeError on duplicate keys, and if `expectedCount` is given and differs from the number
 * of entries, for example because a module was not loaded.
 */
export function frozenRegistry<T>(
  kind: string,
  entries: readonly (readonly [string, T])[],
  expectedCount?: number,
): Registry<T> {
  const map = new Map<string, T>();
  for (const [key, value] of entries) {
    if (map.has(key)) throw new TypeError(`${kind} "${key}" is registered twice; give one of them another name`);
    map.set(key, value);
  }
  if (expectedCount !== undefined && map.size !== expectedCount) {
    throw new TypeError(`${kind} registry: expected ${expectedCount} entries, got ${map.size}`);
  }
  return Object.freeze({ get: (key: string) => map.get(key), keys: () => [...map.keys()] });
}
