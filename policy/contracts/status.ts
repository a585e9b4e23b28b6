import { z } from 'zod';
import { Metadata, Sha256Hex } from './diff';
import { ErrorClass, HookClass, type ValidatorFinding } from './finding';
import { Mode, ReviewState, RollbackReason } from './outcome';
import { PolicyViolation } from './violation';

/** The fields of a finding that people see, and what distinguishes an error from a rejection. SAFETY findings are never listed as violations. */
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

export function toFindingProjection(finding: Omit<ValidatorFinding, 'logic_hash'>): FindingProjection {
  return {
    validatorId: finding.validator_id,
    class: finding.class,
    status: finding.status,
    reason: finding.reason,
    evidenceRefs: finding.evidenceRefs,
    ...(finding.errorClass === undefined ? {} : { errorClass: finding.errorClass }),
    ...(finding.reasonCode === undefined ? {} : { reasonCode: finding.reasonCode }),
  };
}

export function isNotAllow({ status }: Pick<ValidatorFinding, 'status'>): boolean {
  return status !== 'ALLOW';
}

export const ViolationStatus = z.strictObject({
  ...PolicyViolation.shape,
  resolution: z.enum(['callback', 'confirmed', 'rejected', 'hard', 'pending']),
  /** People whose confirmations count so far. */
  confirmedBy: z.array(z.string()),
  /** Who may answer: members of the group, without the requester if the policy requires four eyes. */
  mayAnswer: z.array(z.string()),
});
export type ViolationStatus = z.infer<typeof ViolationStatus>;

/**
 * What people see of a review. Clients build it from verified rows (`verifiedReview`). The query `status` of the workflow has the
 * same form, for the Temporal UI only: a workflow can be replaced by anyone with write access to the namespace.
 */
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
  /** What the submitter sent with the bytes. Members that the source tool declares become part of the effect. */
  metadata: Metadata,
  planHash: Sha256Hex.nullable(),
  stagingSha: Sha256Hex.nullable(),
  /** Must be part of each answer; null until violations are disclosed. */
  fingerprint: Sha256Hex.nullable(),
  findings: z.array(FindingProjection),
  violations: z.array(ViolationStatus),
  disclosedAt: z.string().nullable(),
  deadlineAt: z.string().nullable(),
  /** Unsafe settings in effect: demo keys, unsigned answers, inline bytes in the history, no validation. */
  warnings: z.array(z.string()),
});
export type ReviewStatus = z.infer<typeof ReviewStatus>;

/** Result of `submit`. Provisional: findings are final only after violations are disclosed. */
export const Preflight = z.strictObject({
  changeId: Sha256Hex,
  planHash: Sha256Hex.nullable(),
  provisional: z.literal(true),
  /** True if a static guardian forbade the change. */
  forbidden: z.boolean(),
  /** Those that are not ALLOW. */
  findings: z.array(FindingProjection),
});
export type Preflight = z.infer<typeof Preflight>;
