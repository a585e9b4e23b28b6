import type { ReviewOutcome } from '../policy/contracts/outcome';
import type { ReviewStatus, ViolationStatus } from '../policy/contracts/status';
import { toProjection } from './result';
import type { RecordedReview } from './ports';

/** The status of a review from the ledger, for use if its workflow cannot be queried. */
export function toStatus({ review, diffSha, outcome }: RecordedReview): ReviewStatus {
  return {
    changeId: review.changeId,
    state: outcome?.state ?? review.state,
    reason: outcome?.reason ?? review.reason,
    mode: outcome?.mode ?? review.mode,
    tenant: review.tenant,
    target: review.target,
    sourceTool: review.sourceTool,
    environment: null,
    requester: review.requester,
    inputSha: review.inputSha,
    diffSha,
    planHash: outcome?.planHash ?? null,
    stagingSha: outcome?.stagingSha ?? null,
    fingerprint: null,
    findings: outcome?.findings.map(toProjection) ?? [],
    violations: outcome === null ? [] : violationsOf(outcome),
    disclosedAt: null,
    deadlineAt: review.deadlineAt,
    warnings: ['Read from the ledger, not from the workflow. The answers are in the ledger rows of the review'],
  };
}

function violationsOf(outcome: ReviewOutcome): ViolationStatus[] {
  return outcome.violations.map((violation) => ({
    ...violation,
    resolution: violation.need === 'human' ? (outcome.action === 'COMMIT' ? 'confirmed' : 'pending') : violation.need,
    confirmedBy: [],
    mayAnswer: [],
  }));
}
