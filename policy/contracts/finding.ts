import { z } from 'zod';
import { Sha256Hex } from './diff';
import { JsonObject } from './json-value';
import { MAX_EVIDENCE_REFS, MAX_REASON_LENGTH } from './limits';

export const Status = z.enum(['ALLOW', 'WARN', 'BLOCK']);
export type Status = z.infer<typeof Status>;

export const HookClass = z.enum(['SAFETY', 'POLICY']);
export type HookClass = z.infer<typeof HookClass>;

export const Phase = z.enum(['preflight', 'post']);
export type Phase = z.infer<typeof Phase>;

/** Why a validator gave no answer. An ERROR is represented as `status: 'BLOCK'` with one of these classes. */
export const ErrorClass = z.enum(['ErrValidatorBackend', 'ErrVerdictParse', 'ErrUnknownDiffType', 'ErrTimeout']);
export type ErrorClass = z.infer<typeof ErrorClass>;

export const ValidatorId = z
  .string()
  .regex(
    /^(guardian|safety|always-approve)(\.[a-z0-9][a-z0-9_]*)*$/,
    'expected guardian.<rule> or safety.<rule> in snake_case',
  );

/** Identifies the validator behind a finding. `deterministic` is false for attested validators. */
export const ValidatorSignature = z.strictObject({
  validator_id: z.string(),
  validator_version: z.string(),
  logic_hash: Sha256Hex,
  class: HookClass,
  deterministic: z.boolean(),
});
export type ValidatorSignature = z.infer<typeof ValidatorSignature>;

const EvidenceRef = z.string().min(1).max(1000);

/**
 * Result of one validator. Strict: `phase`, `class` and `logic_hash` come from the plan, so a result that has them is refused, as
 * is any unknown member. WARN and BLOCK need at least one evidence reference; for ALLOW they are optional.
 */
const resultFields = {
  validator_id: z.string().min(1),
  reason: z.string().max(MAX_REASON_LENGTH),
  /** Stable snake_case code that programs may switch on. */
  reasonCode: z.string().max(100).optional(),
  errorClass: ErrorClass.optional(),
  /** False if another run may give a different result, for example after a time-out or a lost worker. */
  reproducible: z.boolean().optional(),
  recommendedActions: z.array(z.string().max(500)).max(10).optional(),
  /** Additional data of the rule. Must be canonical JSON, without diff bytes and secrets. */
  details: JsonObject.optional(),
};
export const ValidatorResult = z.discriminatedUnion('status', [
  z.strictObject({
    ...resultFields,
    status: z.literal('ALLOW'),
    evidenceRefs: z.array(EvidenceRef).max(MAX_EVIDENCE_REFS).default([]),
  }),
  z.strictObject({
    ...resultFields,
    status: z.literal('WARN'),
    evidenceRefs: z.array(EvidenceRef).min(1).max(MAX_EVIDENCE_REFS),
  }),
  z.strictObject({
    ...resultFields,
    status: z.literal('BLOCK'),
    evidenceRefs: z.array(EvidenceRef).min(1).max(MAX_EVIDENCE_REFS),
  }),
]);
export type ValidatorResult = z.infer<typeof ValidatorResult>;

/** One validator's entry in `validatorFindings`: its result, with phase, class and logic_hash from the plan. */
export const ValidatorFinding = z.strictObject({
  ...resultFields,
  phase: Phase,
  class: HookClass,
  status: z.enum(['ALLOW', 'WARN', 'BLOCK', 'SKIPPED']),
  evidenceRefs: z.array(EvidenceRef).max(MAX_EVIDENCE_REFS),
  logic_hash: Sha256Hex,
});
export type ValidatorFinding = z.infer<typeof ValidatorFinding>;
