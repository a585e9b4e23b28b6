export interface Registry<T> {
  readonly get: (key: string) => T | undefined;
  readonly keys: () => readonly string[];
}

/**
 * A registry that is complete when it is made: duplicates throw, and nothing can be added later (V31, T67).
 * `expectedCount`, where given, refuses a module that was forgotten or loaded twice.
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
