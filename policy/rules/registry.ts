import { frozenRegistry, type Registry } from '../contracts/registry';
import type { ValidatorDefinition } from './define';

export type ValidatorRegistry = Registry<ValidatorDefinition>;

export function validatorRegistry(definitions: readonly ValidatorDefinition<never>[]): ValidatorRegistry {
  // The cast is safe: the compiler parses each config with the definition's own schema before `evaluate` receives it.
  const entries = definitions.map((d) => [d.implementation, d as unknown as ValidatorDefinition] as const);
  return frozenRegistry('Validator', entries);
}
