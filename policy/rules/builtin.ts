import { z } from 'zod';
import type { ValidatorResult } from '../contracts/finding';
import type { Level, ValidatorKind } from '../contracts/plan';
import { toResult, type Reads, type ValidatorDefinition, type ValidatorInput } from './define';
import { baseUnverifiable } from './base-unverifiable';
import { metadataMismatch } from './metadata-mismatch';

/** The unit of every validator that the compiler appends. A bundle entry cannot use this name. */
export const BUILTIN_UNIT = 'builtin';

const NoConfig = z.strictObject({});
type NoConfig = z.infer<typeof NoConfig>;

interface Builtin {
  readonly implementation: string;
  readonly kind: ValidatorKind;
  readonly level: Level;
  readonly logicRevision: number;
  readonly reads: readonly Reads[];
  readonly why: string;
  /** Null if findings assembly or an attestor produces the finding. */
  readonly evaluate: ((input: ValidatorInput<NoConfig>) => ValidatorResult) | null;
}

function builtin({ level, ...rest }: Builtin): ValidatorDefinition<NoConfig> {
  return Object.freeze({
    ...rest,
    pack: null,
    version: 'v1',
    config: NoConfig,
    sourceTools: '*',
    phase: 'preflight',
    parser: null,
    defaultLevel: level,
    docs: 'docs/rules/builtin.md',
  });
}

/**
 * Appended to every plan, in this order; `waivers` only if the plan has waivers. A bundle cannot name, move, relax or waive
 * them. Findings assembly produces the findings of the first three; an attestor produces those of the last two.
 */
export const BUILTIN_VALIDATORS: readonly ValidatorDefinition<NoConfig>[] = Object.freeze([
  builtin({
    implementation: 'waivers',
    kind: 'derived',
    logicRevision: 6,
    level: 'advise',
    reads: [],
    why: 'A waiver that has expired should be removed.',
    evaluate: null,
  }),
  builtin({
    implementation: 'contract_violation',
    kind: 'derived',
    logicRevision: 5,
    level: 'forbid',
    reads: [],
    why: 'A validator that breaks its contract cannot be trusted to have checked the change.',
    evaluate: null,
  }),
  builtin({
    implementation: 'too_many_violations',
    kind: 'derived',
    logicRevision: 5,
    level: 'forbid',
    reads: [],
    why: 'A person cannot review more than 200 violations one by one.',
    evaluate: null,
  }),
  builtin({
    implementation: 'metadata_mismatch',
    kind: 'derived',
    logicRevision: 6,
    level: 'confirm',
    reads: ['facts', 'claims', 'metadata', 'staging'],
    why: 'A rule that reads a claim is only as reliable as the claim.',
    evaluate: (input) => toResult(input.signature.validator_id, metadataMismatch(input)),
  }),
  builtin({
    implementation: 'base_unverifiable',
    kind: 'derived',
    logicRevision: 5,
    level: 'confirm',
    reads: ['staging'],
    why: 'Data that the dry run could not capture can change before the commit without being noticed.',
    evaluate: (input) => toResult(input.signature.validator_id, baseUnverifiable(input)),
  }),
  builtin({
    implementation: 'previously_rejected',
    kind: 'attested',
    logicRevision: 5,
    level: 'confirm',
    reads: [],
    why: 'A person has already rejected this exact change.',
    evaluate: null,
  }),
  builtin({
    implementation: 'circuit_open',
    kind: 'attested',
    logicRevision: 5,
    level: 'confirm',
    reads: [],
    why: 'Too many recent changes of this kind were blocked.',
    evaluate: null,
  }),
]);

/** The built-in validators of this plan. */
export function builtinsOf(plan: { readonly waivers: readonly unknown[] }): typeof BUILTIN_VALIDATORS {
  return BUILTIN_VALIDATORS.filter(({ implementation }) => implementation !== 'waivers' || plan.waivers.length > 0);
}
