import type { AnswerMessage, AnswerResults } from '../policy/contracts/answer';
import { Envelope } from '../policy/contracts/diff';
import type { ReviewStatus, ViolationStatus } from '../policy/contracts/status';
import type { VerifiedReview } from '../signing/verified-review';
import { messageOf } from './errors';
import type { ReviewCalls } from './review-calls';

/** Input of a channel: the verified review, its status, and all violations with their callback results, including those that need no answer. */
export interface PolicyRequest {
  /** Pass it to `signAnswers`. */
  readonly review: VerifiedReview;
  readonly status: ReviewStatus;
  readonly violations: readonly ViolationStatus[];
}

/**
 * A way to ask people, such as a chat, a ticket or a terminal. Only signed answers count; booleans are not accepted.
 */
export interface ApprovalChannel {
  readonly name: string;
  readonly onPolicy: (request: PolicyRequest) => Promise<AnswerMessage['answers']>;
}

export type Consulted =
  | { readonly kind: 'answered'; readonly results: AnswerResults }
  /** Nothing waits for a person. The channel was not called. */
  | { readonly kind: 'nothing_to_ask' }
  /** The channel threw, or returned no signed answers. Nothing was sent: the review still waits, and rolls back at its deadline. */
  | { readonly kind: 'no_answer'; readonly reason: string };

/** Calls a channel once for one review, and sends the signed answers that it returns. Never throws because of the channel; may throw errors of `review` and `answer`. */
export async function consult(
  channel: ApprovalChannel,
  reviews: Pick<ReviewCalls, 'review' | 'answer'>,
  changeId: string,
): Promise<Consulted> {
  const review = await reviews.review(changeId);
  const { status } = review;
  if (!status.violations.some((violation) => violation.resolution === 'pending')) return { kind: 'nothing_to_ask' };
  let returned: unknown;
  try {
    returned = await channel.onPolicy({ review, status, violations: status.violations });
  } catch (error) {
    return { kind: 'no_answer', reason: `Channel ${channel.name} failed: ${messageOf(error)}` };
  }
  const answers = Envelope.array().min(1).safeParse(returned);
  if (!answers.success)
    return {
      kind: 'no_answer',
      reason: `Channel ${channel.name} returned no signed answers: expected an array with one envelope for each answered violation`,
    };
  return { kind: 'answered', results: await reviews.answer(changeId, answers.data) };
}
