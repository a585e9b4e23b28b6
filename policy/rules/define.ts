import { z } from 'zod';
import type { JsonObject } from '../contracts/canonical-json';
import type { DiffInput } from '../contracts/diff';
import {
  AnyFunction,
  described,
  givenName,
  isPromise,
  ParserShape,
  requireShape,
  SyncFunction,
  ZodSchema,
} from '../contracts/definition-shape';
import { Phase, type ErrorClass, type ValidatorResult, type ValidatorSignature } from '../contracts/finding';
import { MAX_EVIDENCE_REFS } from '../contracts/limits';
import { Level, type ValidatorKind } from '../contracts/plan';
import type { StagingRecord } from '../contracts/staging-record';
import { DIFF_START, diffEvidence, type Facts } from '../contracts/facts';
import type { ToolRead, ToolView } from './tool-view';

/**
 * The input of a derived validator: frozen copies. It contains no clock, no network access and no store. `facts`, `staging` and the
 * members of `tool` throw TypeError if the validator's `reads` does not name them.
 */
export interface ValidatorInput<Config = unknown> {
  readonly signature: ValidatorSignature;
  readonly phase: Phase;
  readonly config: Config;
  readonly diff: DiffInput;
  readonly inputSha: string;
  readonly facts: Facts;
  /** Readers of the diff's source tool. */
  readonly tool: ToolView;
  /** Null if nothing was staged. */
  readonly staging: { readonly record: StagingRecord; readonly sha: string } | null;
}

/** What a validator reads. `rendering`: the document that the judge receives. */
export type Reads = 'bytes' | 'facts' | 'metadata' | 'staging' | 'rendering' | ToolRead;

/** A validator that a bundle may name, built in or written by a team. Frozen into the registry at startup. */
export interface ValidatorDefinition<Config = unknown> {
  /** Registry key in snake_case. For a rule, its name, which starts with the first word of its pack. */
  readonly implementation: string;
  readonly pack: string | null;
  readonly kind: ValidatorKind;
  readonly version: string;
  /** Raise this whenever the algorithm changes. A test pins a digest of the source to it. */
  readonly logicRevision: number;
  readonly config: z.ZodType<Config>;
  readonly sourceTools: '*' | readonly string[];
  readonly phase: Phase;
  readonly reads: readonly Reads[];
  readonly parser: { readonly name: string; readonly version: string } | null;
  readonly defaultLevel: Level;
  /** One sentence: what goes wrong without this validator. */
  readonly why: string;
  /** Page under docs/, or an https URL. */
  readonly docs: string;
  /** Pure and total over valid input; a throw becomes an ERROR finding. Null for attested validators: an activity produces their result. */
  readonly evaluate: ((input: ValidatorInput<Config>) => ValidatorResult) | null;
}

/** The outcome of a rule: it does not fire, or it fires with places and a reason. Several places make one finding. */
export type RuleOutcome =
  | { readonly fires: false; readonly reason?: string }
  | {
      readonly fires: true;
      /** Default BLOCK. */
      readonly status?: 'WARN' | 'BLOCK';
      readonly reason: string;
      readonly reasonCode?: string;
      /** At least one. Only the first 50 are kept; `details.evidenceTotal` then has the total. */
      readonly evidence: readonly string[];
      readonly details?: JsonObject;
      readonly recommendedActions?: readonly string[];
      /** Set if the rule could not evaluate the change: the finding is an ERROR. */
      readonly errorClass?: ErrorClass;
    };

export interface RuleDefinition<Config> extends Omit<
  ValidatorDefinition<Config>,
  'implementation' | 'kind' | 'evaluate' | 'version' | 'phase' | 'pack' | 'parser'
> {
  /** snake_case; starts with the first word of the pack: `sql_delete_without_where`. */
  readonly name: string;
  readonly pack: string;
  readonly version?: string;
  readonly phase?: Phase;
  readonly parser?: { readonly name: string; readonly version: string } | null;
  readonly apply: (input: ValidatorInput<Config>) => RuleOutcome;
}

const READS = [
  'bytes',
  'facts',
  'metadata',
  'staging',
  'rendering',
  'texts',
  'measure',
  'touched',
  'claims',
] as const satisfies readonly Reads[];

const common = {
  logicRevision: z.int().min(1),
  config: ZodSchema,
  sourceTools: z.union([z.literal('*'), z.array(z.string().min(1)).min(1)], '"*" or names of source tools'),
  reads: z.array(z.enum(READS)),
  defaultLevel: Level,
  why: z.string().min(1),
  docs: z.string().regex(/^(https:\/\/|docs\/)/, 'expected an https URL or a page under docs/'),
};

const RuleShape = z.strictObject({
  ...common,
  name: z.string(),
  pack: z.string().min(1),
  version: z.string().min(1).max(50).optional(),
  phase: Phase.optional(),
  parser: ParserShape.nullable().optional(),
  apply: SyncFunction,
});

/** What `defineRule` returns. */
const DefinedRule = z.strictObject({
  ...common,
  implementation: z.string().regex(/^[a-z][a-z0-9_]{2,62}$/),
  pack: z.string(),
  kind: z.literal('derived'),
  version: z.string(),
  phase: Phase,
  parser: ParserShape.nullable(),
  evaluate: AnyFunction,
});

/** Throws TypeError if an extension's rule was not made by `defineRule`. It may come from another copy of this package. */
export function requireDefinedRule(rule: unknown, where: string): void {
  const name = givenName(rule, 'implementation') || givenName(rule, 'name');
  requireShape(`${where}${name}: expected a rule that defineRule returned`, DefinedRule, rule);
}

/**
 * Defines a rule, built in or written by a team. `apply` must be pure: no I/O, no state, no clock. If it returns no valid outcome,
 * the finding is an ERROR.
 * Throws TypeError for a member that is missing, unknown or invalid, such as an async `apply`, and if the name is not snake_case or
 * does not start with the first word of its pack.
 */
export function defineRule<Config>(rule: RuleDefinition<Config>): ValidatorDefinition<Config> {
  requireShape(`Rule${givenName(rule, 'name')}`, RuleShape, rule);
  const { name, apply, version = 'v1', phase = 'preflight', parser = null, ...rest } = rule;
  if (!/^[a-z][a-z0-9_]{2,62}$/.test(name))
    throw new TypeError(`Rule name "${name}": expected snake_case, 3 to 63 characters`);
  const word = rule.pack.split('-')[0];
  if (!name.startsWith(`${word}_`))
    throw new TypeError(
      `Rule name "${name}": expected it to start with "${word}_", the first word of its pack "${rule.pack}"`,
    );
  return Object.freeze({
    ...rest,
    implementation: name,
    kind: 'derived' as const,
    version,
    phase,
    parser,
    evaluate: (input: ValidatorInput<Config>) =>
      toResult(input.signature.validator_id, validOutcome(apply(input), input)),
  });
}

/** The outcome itself, or an ERROR for anything else: a promise, `true` or `{}` has no `fires` and must not pass. */
function validOutcome(outcome: unknown, { diff }: Pick<ValidatorInput, 'diff'>): RuleOutcome {
  const problem = outcomeProblem(outcome as Partial<Extract<RuleOutcome, { fires: true }>> | null | undefined);
  if (problem === null) return outcome as RuleOutcome;
  // Otherwise its rejection would end the process.
  if (isPromise(outcome)) void Promise.allSettled([outcome]);
  return {
    fires: true,
    reason: `The rule's apply returned ${problem}; it must return {fires: false} or {fires: true, reason, evidence}, and no promise`,
    reasonCode: 'invalid_outcome',
    errorClass: 'ErrValidatorBackend',
    evidence: [diffEvidence(diff.diffSha, DIFF_START)],
  };
}

function outcomeProblem(outcome: Partial<Extract<RuleOutcome, { fires: true }>> | null | undefined): string | null {
  const { fires, status, reason, evidence } = outcome ?? {};
  if (typeof fires !== 'boolean')
    return fires === undefined ? `${described(outcome)} without fires` : `fires: ${described(fires)}`;
  if (!fires) return null;
  if (typeof reason !== 'string' || reason === '') return `reason: ${described(reason)}`;
  if (!Array.isArray(evidence) || evidence.length === 0) return `evidence: ${described(evidence)}`;
  // ALLOW would let a change pass for which the rule fires.
  return status === undefined || status === 'WARN' || status === 'BLOCK' ? null : `status: ${described(status)}`;
}

/** The ERROR of a validator that reads the dry run, if there was none. */
export function stagingMissing({ diff }: Pick<ValidatorInput, 'diff'>): RuleOutcome {
  return {
    fires: true,
    reason: 'There is no staging record',
    reasonCode: 'staging_missing',
    errorClass: 'ErrValidatorBackend',
    evidence: [diffEvidence(diff.diffSha, DIFF_START)],
  };
}

/** Converts a rule's outcome into a validator's result. */
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
    ...(Object.keys(details).length === 0 ? {} : { details: details as NonNullable<ValidatorResult['details']> }),
  };
}
