import type { Decision } from '../policy/contracts/answer';
import { statementOf, type Statement } from '../policy/evidence/statement';
import { newNonce } from '../signing/nonce';
import type { VerifiedReview } from '../signing/verified-review';
import { CountersignError } from './errors';

/** One person's decision on some violations of a review. */
export interface AnswerChoice {
  readonly violationIds: readonly string[];
  readonly decision: Decision;
  readonly reason: string;
  /** Digest of the signer's confirmation by violation id (`confirmationsOf`). Required to retract. */
  readonly retracts?: ReadonlyMap<string, string>;
  /** Share of the evidence that was on screen, 0 to 1, by violation id. Absent outside the inbox. */
  readonly coverage?: ReadonlyMap<string, number>;
}

/** What was displayed of a review, as far as answers depend on it. */
export type AnsweredReview = Pick<VerifiedReview, 'changeId' | 'status' | 'staging' | 'preview'>;

export interface Validity {
  readonly issuedAt: Date;
  /** At most 7 days after `issuedAt`. */
  readonly expiresAt: Date;
}

/**
 * One answer for each violation of the change `changeId`, bound to the verified `review` that was displayed, for the key `keyId` to
 * sign. Throws `refused` if the review is of another change, has no fingerprint yet, does not contain a violation, or lacks the rows of
 * its dry run, which only a confirmation needs.
 */
export function answerStatements(
  changeId: string,
  { status, changeId: reviewed, staging, preview }: AnsweredReview,
  choice: AnswerChoice,
  keyId: string,
  validity: Validity,
): readonly Statement<'answer'>[] {
  if ([reviewed, status.changeId].some((id) => id !== changeId))
    throw new CountersignError(
      'refused',
      `Expected the review of ${changeId}, got that of ${reviewed}: nothing was signed`,
    );
  const { fingerprint, environment } = status;
  if (fingerprint === null || environment === null) {
    throw new CountersignError(
      'refused',
      `Review ${changeId} is ${status.state} and has disclosed no violations: there is nothing to answer`,
    );
  }
  if (choice.decision === 'confirm' && staging !== null && staging.previewSha !== null && preview === null)
    throw new CountersignError(
      'not_eligible',
      `The rows that the dry run of ${changeId} changed were not sent, so they cannot be confirmed. A key needs the right "answer" to read them`,
    );
  return choice.violationIds.map((violationId) => {
    if (!status.violations.some((violation) => violation.violationId === violationId)) {
      throw new CountersignError('refused', `Review ${changeId} has no violation ${violationId}`);
    }
    return statementOf('answer', {
      changeId,
      fingerprint,
      violationId,
      decision: choice.decision,
      retracts: retractedBy(choice, violationId),
      reason: choice.reason,
      keyId,
      context: { tenant: status.tenant, target: status.target, environment },
      coverage: choice.coverage?.get(violationId) ?? null,
      nonce: newNonce(),
      issuedAt: validity.issuedAt.toISOString(),
      expiresAt: validity.expiresAt.toISOString(),
    });
  });
}

function retractedBy({ decision, retracts }: AnswerChoice, violationId: string): string | null {
  if (decision !== 'retract') return null;
  const digest = retracts?.get(violationId);
  if (digest !== undefined) return digest;
  throw new CountersignError('refused', `You have no confirmation of violation ${violationId} to take back`);
}
