import { signAnswers } from '../client/sign-answers';
import type { Signer } from '../client/signer';
import type { Decision } from '../policy/contracts/answer';
import type { Envelope } from '../policy/contracts/diff';
import type { ReviewStatus } from '../policy/contracts/status';

const VALID_MS = 3_600_000;

/**
 * Answers to these violations, by default to all that need a person. The signer is a program that looks at nothing: for tests, crash
 * tests and measurements. Empty if no violation needs a person.
 */
export function signedAnswers(
  status: ReviewStatus,
  signer: Signer,
  decision: Decision,
  { violationIds = humanViolations(status), reason = decision as string } = {},
): Envelope[] {
  if (violationIds.length === 0) return [];
  const { changeId } = status;
  const review = { changeId, status, staging: null, preview: null };
  const issuedAt = new Date();
  const validity = { issuedAt, expiresAt: new Date(issuedAt.getTime() + VALID_MS) };
  return [...signAnswers(changeId, review, { violationIds, decision, reason }, signer, validity)];
}

/** The ids of the violations that need a person. */
export function humanViolations({ violations }: Pick<ReviewStatus, 'violations'>): readonly string[] {
  return violations.filter(({ need }) => need === 'human').map(({ violationId }) => violationId);
}
