import type { ValidatorDefinition } from './define';

/** `definePolicyCallback`'s context and result live in `callback.ts`. */
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

export type ValidatorRegistry = Registry<ValidatorDefinition>;

export function validatorRegistry(
  definitions: readonly ValidatorDefinition<never>[],
  expectedCount?: number,
): ValidatorRegistry {
  // A definition's config type is closed over by its own schema, which the compiler has run before `evaluate` sees it.
  const entries = definitions.map((d) => [d.implementation, d as unknown as ValidatorDefinition] as const);
  return frozenRegistry('Validator', entries, expectedCount);
}
