import type { z } from 'zod';
import type { DiffInput } from '../contracts/diff';
import {
  MAX_EVIDENCE_REFS,
  type ErrorClass,
  type Phase,
  type ValidatorResult,
  type ValidatorSignature,
} from '../contracts/finding';
import type { Level, ValidatorKind } from '../contracts/plan';
import type { StagingRecord } from '../contracts/staging-record';
import type { Details, Facts } from '../contracts/facts';
import type { ToolRead, ToolView } from './tool-view';

/** What a derived validator reads. All of it is frozen, and a copy (G15, T37). No clock, no network, no store. */
export interface ValidatorInput<Config = unknown> {
  readonly signature: ValidatorSignature;
  readonly phase: Phase;
  readonly config: Config;
  readonly diff: DiffInput;
  readonly inputSha: string;
  readonly facts: Facts;
  /** Readers of the diff's source tool, as far as `reads` declares them. */
  readonly tool: ToolView;
  /** Null before the dry run; never null for a validator that declares `staging` in `reads`. */
  readonly staging: { readonly record: StagingRecord; readonly sha: string } | null;
}

/** `rendering`: what the judge is shown. */
export type Reads = 'bytes' | 'facts' | 'metadata' | 'staging' | 'rendering' | ToolRead;

/** A validator that a bundle may name: our own, or a team's. Frozen into the registry at start. */
export interface ValidatorDefinition<Config = unknown> {
  /** Registry key, snake_case; for a rule its name, which begins with its pack's word. */
  readonly implementation: string;
  readonly pack: string | null;
  readonly kind: ValidatorKind;
  readonly version: string;
  /** Raised by hand whenever the algorithm changes; a test pins the source's digest to it (T12). */
  readonly logicRevision: number;
  readonly config: z.ZodType<Config>;
  readonly sourceTools: '*' | readonly string[];
  readonly phase: Phase;
  readonly reads: readonly Reads[];
  readonly parser: { readonly name: string; readonly version: string } | null;
  readonly defaultLevel: Level;
  /** One line: what goes wrong without it. */
  readonly why: string;
  /** Page under docs/, or an https address. */
  readonly docs: string;
  /** Pure and total over valid input; a throw becomes an ERROR finding. Attested validators have none: an activity answers. */
  readonly evaluate: ((input: ValidatorInput<Config>) => ValidatorResult) | null;
}

/** What a rule says: nothing, or that it fires, where, and why. Several places are one finding (DESIGN §4). */
export type RuleOutcome =
  | { readonly fires: false; readonly reason?: string }
  | {
      readonly fires: true;
      /** Default BLOCK. */
      readonly status?: 'WARN' | 'BLOCK';
      readonly reason: string;
      readonly reasonCode?: string;
      /** At least one. Past 50 the rest is counted in `details.evidenceTotal`. */
      readonly evidence: readonly string[];
      readonly details?: Details;
      readonly recommendedActions?: readonly string[];
      /** Set where the rule could not answer: the finding is an ERROR. */
      readonly errorClass?: ErrorClass;
    };

export interface RuleDefinition<Config> extends Omit<
  ValidatorDefinition<Config>,
  'implementation' | 'kind' | 'evaluate' | 'version' | 'phase' | 'pack' | 'parser'
> {
  /** snake_case, begins with the pack's word: `sql_delete_without_where`. */
  readonly name: string;
  readonly pack: string;
  readonly version?: string;
  readonly phase?: Phase;
  readonly parser?: { readonly name: string; readonly version: string } | null;
  readonly apply: (input: ValidatorInput<Config>) => RuleOutcome;
}

/**
 * The one way to write a rule, for ours as for users'. Pure: no I/O, no state, no clock (F24).
 * Throws at once where the name is not snake_case or does not begin with its pack's word.
 */
export function defineRule<Config>(rule: RuleDefinition<Config>): ValidatorDefinition<Config> {
  const { name, apply, version = 'v1', phase = 'preflight', parser = null, ...rest } = rule;
  if (!/^[a-z][a-z0-9_]{2,62}$/.test(name))
    throw new TypeError(`Rule name "${name}": expected snake_case, 3 to 63 characters`);
  const word = rule.pack.split('-')[0];
  if (!name.startsWith(`${word}_`))
    throw new TypeError(`Rule name "${name}": expected to begin with "${word}_", the word of its pack "${rule.pack}"`);
  return Object.freeze({
    ...rest,
    implementation: name,
    kind: 'derived' as const,
    version,
    phase,
    parser,
    evaluate: (input: ValidatorInput<Config>) => toResult(input.signature.validator_id, apply(input)),
  });
}

/** A rule's outcome as the validator's result; for validators that are not made by `defineRule`. */
export function toResult(validatorId: string, outcome: RuleOutcome): ValidatorResult {
  if (!outcome.fires)
    return { validator_id: validatorId, status: 'ALLOW', reason: outcome.reason ?? '', evidenceRefs: [] };
  const evidence = outcome.evidence.slice(0, MAX_EVIDENCE_REFS);
  const total = outcome.evidence.length > MAX_EVIDENCE_REFS ? { evidenceTotal: outcome.evidence.length } : {};
  const details = { ...outcome.details, ...total };
  return {
    validator_id: validatorId,
    status: outcome.status ?? 'BLOCK',
    reason: outcome.reason,
    evidenceRefs: [...evidence],
    ...(outcome.reasonCode === undefined ? {} : { reasonCode: outcome.reasonCode }),
    ...(outcome.errorClass === undefined ? {} : { errorClass: outcome.errorClass }),
    ...(outcome.recommendedActions === undefined ? {} : { recommendedActions: [...outcome.recommendedActions] }),
    ...(Object.keys(details).length === 0
      ? {}
      : { details: { ...details } as NonNullable<ValidatorResult['details']> }),
  };
}
