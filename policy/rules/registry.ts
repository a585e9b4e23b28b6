import { frozenRegistry, type Registry } from '../contracts/registry';
import type { ValidatorDefinition } from './define';

export type ValidatorRegistry = Registry<ValidatorDefinition>;

export function validatorRegistry(
  definitions: readonly ValidatorDefinition<never>[],
  expectedCount?: number,
): ValidatorRegistry {
  // A definition's config type is closed over by its own schema, which the compiler has run before `evaluate` sees it.
  const entries = definitions.map((d) => [d.implementation, d as unknown as ValidatorDefinition] as const);
  return frozenRegistry('Validator', entries, expectedCount);
}
