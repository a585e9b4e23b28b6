import { z } from 'zod';
import type { ValidatorResult } from '../contracts/finding';
import type { Level, ValidatorKind } from '../contracts/plan';
import { toResult, type Reads, type ValidatorDefinition, type ValidatorInput } from './define';
import { baseUnverifiable } from './base-unverifiable';
import { metadataMismatch } from './metadata-mismatch';

/** The unit of every validator that the compiler appends. No bundle entry may take the name. */
export const BUILTIN_UNIT = 'builtin';

const NoConfig = z.strictObject({});
type NoConfig = z.infer<typeof NoConfig>;

interface Builtin {
  readonly implementation: string;
  readonly kind: ValidatorKind;
  readonly level: Level;
  readonly reads: readonly Reads[];
  readonly why: string;
  /** Null where findings assembly or an attestor answers. */
  readonly evaluate: ((input: ValidatorInput<NoConfig>) => ValidatorResult) | null;
}

function builtin({ level, ...rest }: Builtin): ValidatorDefinition<NoConfig> {
  return Object.freeze({
    ...rest,
    pack: null,
    version: 'v1',
    logicRevision: 2,
    config: NoConfig,
    sourceTools: '*',
    phase: 'preflight',
    parser: null,
    defaultLevel: level,
    docs: 'docs/rules/builtin.md',
  });
}

/**
 * What every plan ends with, in this order (records.md §2); the first one only where the plan has waivers. A bundle can
 * neither name, move, relax nor waive them. The first three are filled in by findings assembly, the last two by an attestor.
 */
export const BUILTIN_VALIDATORS: readonly ValidatorDefinition<NoConfig>[] = Object.freeze([
  builtin({
    implementation: 'waivers',
    kind: 'derived',
    level: 'advise',
    reads: [],
    why: 'A waiver that is over, or waives nothing, is one that nobody looks after.',
    evaluate: null,
  }),
  builtin({
    implementation: 'contract_violation',
    kind: 'derived',
    level: 'forbid',
    reads: [],
    why: 'A validator that breaks its contract has not looked at the change.',
    evaluate: null,
  }),
  builtin({
    implementation: 'too_many_violations',
    kind: 'derived',
    level: 'forbid',
    reads: [],
    why: 'Nobody answers more than 200 violations one by one.',
    evaluate: null,
  }),
  builtin({
    implementation: 'metadata_mismatch',
    kind: 'derived',
    level: 'confirm',
    reads: ['facts', 'claims', 'metadata', 'staging'],
    why: 'Rules that read a claim are worth what the claim is worth.',
    evaluate: (input) => toResult(input.signature.validator_id, metadataMismatch(input)),
  }),
  builtin({
    implementation: 'base_unverifiable',
    kind: 'derived',
    level: 'confirm',
    reads: ['staging'],
    why: 'What the dry run could not capture can move unseen before the commit.',
    evaluate: (input) => toResult(input.signature.validator_id, baseUnverifiable(input)),
  }),
  builtin({
    implementation: 'previously_rejected',
    kind: 'attested',
    level: 'confirm',
    reads: [],
    why: 'A person has already said no to this very change.',
    evaluate: null,
  }),
  builtin({
    implementation: 'circuit_open',
    kind: 'attested',
    level: 'confirm',
    reads: [],
    why: 'Too many changes of this kind went wrong lately.',
    evaluate: null,
  }),
]);

/** Those that a plan ends with. */
export function builtinsOf(plan: { readonly waivers: readonly unknown[] }): typeof BUILTIN_VALIDATORS {
  return BUILTIN_VALIDATORS.filter(({ implementation }) => implementation !== 'waivers' || plan.waivers.length > 0);
}
