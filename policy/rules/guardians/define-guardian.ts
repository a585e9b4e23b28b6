import type { Phase } from '../../contracts/finding';
import type { z } from 'zod';
import { toResult, type Reads, type RuleOutcome, type ValidatorDefinition, type ValidatorInput } from '../define';

interface Guardian<Config> {
  readonly name: string;
  readonly logicRevision: number;
  readonly config: z.ZodType<Config>;
  readonly phase: Phase;
  readonly reads: readonly Reads[];
  readonly why: string;
  readonly apply: (input: ValidatorInput<Config>) => RuleOutcome;
}

/** Defines one of the four guardians. Its id is `guardian.<name>`; its class is POLICY unless a bundle sets level `forbid`. */
export function defineGuardian<Config>({ name, apply, ...rest }: Guardian<Config>): ValidatorDefinition<Config> {
  return Object.freeze({
    ...rest,
    implementation: name,
    pack: null,
    kind: 'derived' as const,
    version: 'v1',
    sourceTools: '*' as const,
    parser: null,
    defaultLevel: 'confirm' as const,
    docs: 'docs/rules/guardians.md',
    evaluate: (input: ValidatorInput<Config>) => toResult(input.signature.validator_id, apply(input)),
  });
}
