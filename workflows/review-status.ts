import type { ReviewFinding } from '../policy/contracts/history-plan';
import { isNotAllow, toFindingProjection, type Preflight, type ReviewStatus } from '../policy/contracts/status';
import { isHardBlock } from '../policy/decide/findings';
import { violationStatus } from '../policy/decide/violation-status';
import type { Review } from './review-state';

/** What people and auditors see of a review. */
export function statusOf(review: Review, at: string): ReviewStatus {
  const { submission, opened } = review;
  const decided = review.fingerprint === null ? null : review.decideAt(at);
  const requester = opened?.requester ?? null;
  const people = {
    groups: opened?.plan.groups ?? {},
    requester,
    answers: review.answers(),
    disclosedAt: review.disclosedAt,
  };
  return {
    changeId: review.changeId,
    state: review.state,
    reason: review.reason,
    mode: opened?.plan.mode ?? null,
    tenant: submission.tenant,
    target: submission.target,
    sourceTool: submission.sourceTool,
    environment: opened === null ? null : review.environment(),
    requester,
    inputSha: review.inputSha,
    diffSha: submission.diffSha,
    metadata: submission.metadata,
    planHash: opened?.planHash ?? null,
    stagingSha: review.stagingSha,
    fingerprint: review.fingerprint,
    findings: answered(review).map(toFindingProjection),
    violations: review.violations.map((v) =>
      violationStatus(v, decided?.resolutions[v.violationId] ?? 'pending', people),
    ),
    disclosedAt: review.disclosedAt,
    deadlineAt: decided?.action === 'WAIT' ? decided.nextDeadline : null,
    warnings: [...(opened?.warnings ?? []), ...review.warnings],
  };
}

export function preflightOf(review: Review): Preflight {
  const findings = answered(review);
  return {
    changeId: review.changeId,
    planHash: review.opened?.planHash ?? null,
    provisional: true,
    forbidden: findings.some(isHardBlock),
    findings: findings.filter(isNotAllow).map(toFindingProjection),
  };
}

function answered(review: Review): readonly ReviewFinding[] {
  return review.opened === null ? [] : review.findings.answered();
}
