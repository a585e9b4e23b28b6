import type { AnswerMessage, AnswerResults } from '../policy/contracts/answer';
import { Envelope } from '../policy/contracts/diff';
import type { ReviewStatus, ViolationStatus } from '../policy/contracts/status';
import { messageOf } from './errors';
import type { ReviewCalls } from './review-calls';

/** What a channel is shown: the whole status, and ALL violations with their callback results, those that need nobody included (V13). */
export interface PolicyRequest {
  readonly status: ReviewStatus;
  readonly violations: readonly ViolationStatus[];
}

/**
 * A way to ask people: chat, a ticket, a terminal (the contract's `on_policy`). What it returns counts only when signed; a list of
 * booleans, or one boolean, answers nothing (C8).
 */
export interface ApprovalChannel {
  readonly name: string;
  readonly onPolicy: (request: PolicyRequest) => Promise<AnswerMessage['answers']>;
}

export type Consulted =
  | { readonly kind: 'answered'; readonly results: AnswerResults }
  /** Nothing waits for a person. The channel was not called. */
  | { readonly kind: 'nothing_to_ask' }
  /** The channel threw, or returned what is no answer. Nothing was sent: the review goes on waiting, and expiry is rollback. */
  | { readonly kind: 'no_answer'; readonly reason: string };

/** Asks one channel about one review, once, and sends on what it signed. Never throws for what the channel does (V25). */
export async function consult(
  channel: ApprovalChannel,
  reviews: Pick<ReviewCalls, 'status' | 'answer'>,
  changeId: string,
): Promise<Consulted> {
  const status = await reviews.status(changeId);
  if (!status.violations.some((violation) => violation.resolution === 'pending')) return { kind: 'nothing_to_ask' };
  let returned: unknown;
  try {
    returned = await channel.onPolicy({ status, violations: status.violations });
  } catch (error) {
    return { kind: 'no_answer', reason: `Channel ${channel.name} failed: ${messageOf(error)}` };
  }
  const answers = Envelope.array().min(1).safeParse(returned);
  if (!answers.success)
    return {
      kind: 'no_answer',
      reason: `Channel ${channel.name} returned no signed answer: expected one envelope for each violation that it answers`,
    };
  return { kind: 'answered', results: await reviews.answer(changeId, answers.data) };
}
