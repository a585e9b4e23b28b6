import { z } from 'zod';
import { Name, Sha256Hex } from './diff';
import { HookClass, Phase } from './finding';
import { JsonRecord } from './json-value';
import { typedHash, type Sha256 } from './hash';

export const Level = z.enum(['forbid', 'confirm', 'advise', 'shadow']);
export type Level = z.infer<typeof Level>;

/** `derived`: a pure function of bytes, metadata and staging record, which the committer recomputes. `attested`: a signed record. */
export const ValidatorKind = z.enum(['derived', 'attested']);
export type ValidatorKind = z.infer<typeof ValidatorKind>;

/** One validator in the compiled plan. The array order is the declared order and the order of `validatorFindings`. */
export const PlanValidator = z.strictObject({
  id: z.string(),
  version: z.string(),
  class: HookClass,
  level: Level,
  phase: Phase,
  kind: ValidatorKind,
  /** The bundle entry that the validator was expanded from. One activity runs a unit. `builtin` for validators that the compiler appends. */
  unit: z.string(),
  /** Key of the implementation in the registry. */
  implementation: z.string(),
  /** True if it reads the staging record, and therefore runs after the dry run. */
  needsStaging: z.boolean(),
  config: JsonRecord,
  logicRevision: z.int().min(1),
  logic_hash: Sha256Hex,
});
export type PlanValidator = z.infer<typeof PlanValidator>;

export const Cardinality = z.enum(['single', 'multiple']);
export type Cardinality = z.infer<typeof Cardinality>;

/** Who must answer a violation, and by when. */
const need = {
  group: Name,
  quorum: z.int().min(1).max(10),
  fourEyes: z.boolean(),
  deadlineMs: z.int().min(1),
  confirmationMessage: z.string().min(1).max(2000),
};

export const PlanPolicy = z.strictObject({
  key: Name,
  name: z.string().min(1).max(200),
  /** An absent member matches everything. */
  match: z.strictObject({
    validatorIds: z.array(z.string()).min(1).optional(),
    sourceTools: z.array(Name).min(1).optional(),
  }),
  requiresConfirmation: z.boolean(),
  triggerCardinality: Cardinality.nullable(),
  callback: z.strictObject({ key: Name, version: z.string().min(1) }).nullable(),
  metadata: JsonRecord,
  ...need,
});
export type PlanPolicy = z.infer<typeof PlanPolicy>;

export const Waiver = z.strictObject({
  id: Name,
  validatorId: z.string(),
  reason: z.string().min(1).max(1000),
  expiresAt: z.iso.datetime(),
  scope: JsonRecord,
});

/**
 * The frozen plan of one (target, sourceTool): all settings that affect the decision. `planHash` covers all of it.
 * It never contains the diff, findings, times, keys or hashes of external state.
 */
export const Plan = z.strictObject({
  decideRevision: z.int().min(1),
  domain: z.string().min(1),
  provider: z.string().min(1),
  model: z.string().min(1),
  mode: z.enum(['enforced', 'cooperative']),
  target: Name,
  sourceTool: Name,
  /** A development target accepts demo keys, and may accept unsigned answers. */
  development: z.boolean(),
  inlineBytes: z.boolean(),
  answers: z.enum(['signed', 'unsigned']),
  judgeWhen: z.enum(['unlessHardBlock', 'onlyIfClean']),
  onJudgeFailure: z.enum(['ask', 'forbid']),
  /** `any`: if a policy does not require confirmation, a passed callback resolves WARN and BLOCK. `warnOnly`: BLOCK always needs a person. */
  autoResolve: z.enum(['any', 'warnOnly']),
  /** How long after the last required answer a commit may start. */
  commitWindowMs: z.int().min(1),
  /** Adapter settings that affect the dry run, such as statement_timeout. */
  staging: JsonRecord,
  validators: z.array(PlanValidator).min(1),
  shadow: z.array(PlanValidator),
  policies: z.array(PlanPolicy),
  /** Applies to a finding that fires and matches no policy: a person must confirm it. */
  implicitPolicy: z.strictObject(need),
  groups: z.record(Name, z.strictObject({ members: z.array(z.string().min(1).max(200)) })),
  waivers: z.array(Waiver),
});
export type Plan = z.infer<typeof Plan>;

export function planHash(plan: Plan): Sha256 {
  return typedHash('plan', { plan });
}

/** Identifies the logic of a validator. Does not hash the function's source text: compilers and bundlers change it. */
export function logicHash(v: {
  readonly id: string;
  readonly version: string;
  readonly logicRevision: number;
  readonly config: object;
  readonly parser: { readonly name: string; readonly version: string } | null;
  /** Readers of the source tool that the validator relies on, with their versions. Absent or empty: none. */
  readonly readers?: readonly string[];
}): Sha256 {
  return typedHash('logic', {
    id: v.id,
    version: v.version,
    logicRevision: v.logicRevision,
    config: v.config,
    parser: v.parser,
    ...(v.readers === undefined || v.readers.length === 0 ? {} : { readers: v.readers }),
  });
}
