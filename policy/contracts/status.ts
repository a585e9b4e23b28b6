import { z } from 'zod';
import { Sha256Hex } from './diff';
import { ErrorClass, HookClass } from './finding';
import { Mode, ReviewState, RollbackReason } from './outcome';
import { PolicyViolation } from './violation';

/** The five fields that people see of a finding (G49), plus what tells an error from a no. SAFETY findings are never in a violation list. */
export const FindingProjection = z.strictObject({
  validatorId: z.string(),
  class: HookClass,
  status: z.enum(['ALLOW', 'WARN', 'BLOCK', 'SKIPPED']),
  reason: z.string(),
  evidenceRefs: z.array(z.string()),
  errorClass: ErrorClass.optional(),
  reasonCode: z.string().optional(),
});
export type FindingProjection = z.infer<typeof FindingProjection>;

export const ViolationStatus = z.strictObject({
  ...PolicyViolation.shape,
  resolution: z.enum(['callback', 'confirmed', 'rejected', 'hard', 'pending']),
  /** Persons whose confirmation was counted so far. */
  confirmedBy: z.array(z.string()),
  /** Who may answer: members of the group, less the requester under four eyes. */
  mayAnswer: z.array(z.string()),
});
export type ViolationStatus = z.infer<typeof ViolationStatus>;

/** What the query `status` answers: the small projection, made in the core; nothing else infers anything (G49). */
export const ReviewStatus = z.strictObject({
  changeId: Sha256Hex,
  state: ReviewState,
  reason: RollbackReason.nullable(),
  mode: Mode.nullable(),
  tenant: z.string(),
  target: z.string(),
  sourceTool: z.string(),
  environment: z.enum(['development', 'production']).nullable(),
  requester: z.string().nullable(),
  inputSha: Sha256Hex,
  diffSha: Sha256Hex,
  planHash: Sha256Hex.nullable(),
  stagingSha: Sha256Hex.nullable(),
  /** What an answer must carry; null until violations are disclosed. */
  fingerprint: Sha256Hex.nullable(),
  findings: z.array(FindingProjection),
  violations: z.array(ViolationStatus),
  disclosedAt: z.string().nullable(),
  deadlineAt: z.string().nullable(),
  /** Loud facts: demo keys, unsigned answers, inline bytes in the history, no validation at all. */
  warnings: z.array(z.string()),
});
export type ReviewStatus = z.infer<typeof ReviewStatus>;

/** What `submit` answers. Provisional: the array is final only when violations are disclosed (records.md §3). */
export const Preflight = z.strictObject({
  changeId: Sha256Hex,
  planHash: Sha256Hex.nullable(),
  provisional: z.literal(true),
  /** True when a static guardian forbade the change. */
  forbidden: z.boolean(),
  findings: z.array(FindingProjection),
});
export type Preflight = z.infer<typeof Preflight>;
