import type { Envelope } from '../policy/contracts/diff';
import { answerStatements, type AnswerChoice, type AnsweredReview, type Validity } from './answer-statements';
import type { Signer } from './signer';

/** In the order of `violationIds`. */
export type SignedAnswers = readonly Envelope[];

/** Signs the statements of `answerStatements`, and throws as it does. */
export function signAnswers(
  changeId: string,
  review: AnsweredReview,
  choice: AnswerChoice,
  signer: Signer,
  validity: Validity,
): SignedAnswers {
  return answerStatements(changeId, review, choice, signer.keyId, validity).map((statement) => signer.sign(statement));
}
