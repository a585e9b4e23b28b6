import type { Envelope } from '../policy/contracts/diff';
import { answerStatements, type AnswerChoice, type AnsweredReview, type Validity } from './answer-statements';
import type { Signer } from './signer';

/** In the order of `violationIds`. */
export type SignedAnswers = readonly Envelope[];

/**
 * Signs one answer for each violation that `choice` names, bound to the verified `review` that was displayed. Throws `refused` if the
 * review is of another change, has no fingerprint yet or does not contain a violation, and `not_eligible` if it lacks the rows of its
 * dry run, which only a confirmation needs.
 */
export function signAnswers(
  changeId: string,
  review: AnsweredReview,
  choice: AnswerChoice,
  signer: Signer,
  validity: Validity,
): SignedAnswers {
  return answerStatements(changeId, review, choice, signer.keyId, validity).map((statement) => signer.sign(statement));
}
