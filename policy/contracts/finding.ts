import { z } from 'zod';
import { Sha256Hex } from './diff';
import { JsonObject } from './json-value';
import { MAX_EVIDENCE_REFS, MAX_REASON_LENGTH } from './limits';

export { MAX_EVIDENCE_REFS } from './limits';

export const Status = z.enum(['ALLOW', 'WARN', 'BLOCK']);
export type Status = z.infer<typeof Status>;

export const HookClass = z.enum(['SAFETY', 'POLICY']);
export type HookClass = z.infer<typeof HookClass>;

export const Phase = z.enum(['preflight', 'post']);
export type Phase = z.infer<typeof Phase>;

/** How a validator failed to answer. On the wire an ERROR is `status: 'BLOCK'` with one of these (records.md §3). */
export const ErrorClass = z.enum(['ErrValidatorBackend', 'ErrVerdictParse', 'ErrUnknownDiffType', 'ErrTimeout']);
export type ErrorClass = z.infer<typeof ErrorClass>;

export const ValidatorId = z
  .string()
  .regex(
    /^(guardian|safety|always-approve)(\.[a-z0-9][a-z0-9_]*)*$/,
    'expected guardian.<rule> or safety.<rule> in snake_case',
  );

/** What stands behind a finding (G3); `deterministic: false` for attested validators (C12). */
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
 * One validator's answer (G7), as the validator gives it: no phase, no class, no logic_hash (G8, G11), no unknown key (T31).
 * WARN and BLOCK carry at least one evidence reference (B-022 INV-2); an ALLOW may carry none.
 */
const resultFields = {
  validator_id: z.string().min(1),
  reason: z.string().max(MAX_REASON_LENGTH),
  /** snake_case, stable: what tools may switch on. */
  reasonCode: z.string().max(100).optional(),
  errorClass: ErrorClass.optional(),
  /** Set to false where running it again may give another answer: a time-out, a lost worker (records.md §3). */
  reproducible: z.boolean().optional(),
  recommendedActions: z.array(z.string().max(500)).max(10).optional(),
  /** Per rule or dimension (F16). Canonical JSON; never diff bytes, never a secret. */
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

/** One validator's entry in `validatorFindings` (G10): the result, with what the plan says of the validator. */
export const ValidatorFinding = z.strictObject({
  ...resultFields,
  phase: Phase,
  class: HookClass,
  status: z.enum(['ALLOW', 'WARN', 'BLOCK', 'SKIPPED']),
  evidenceRefs: z.array(EvidenceRef).max(MAX_EVIDENCE_REFS),
  logic_hash: Sha256Hex,
});
export type ValidatorFinding = z.infer<typeof ValidatorFinding>;
