import type { AnswerMessage, AnswerResults } from '../policy/contracts/answer';
import type { ReviewOutcome } from '../policy/contracts/outcome';
import type { Preflight, ReviewStatus } from '../policy/contracts/status';
import type { WithdrawResult } from '../policy/contracts/withdrawal';
import type { ReceiptTrust } from './receipt';
import type { ReviewResult } from './result';
import type { PreparedSubmission, SubmitInput } from './submission';

/** The answer of `submit`. `outcome` is set when the same change was reviewed before and its review is closed. */
export interface Submitted {
  readonly changeId: string;
  /** `'pending'`: no answer in time; the review continues without the caller. */
  readonly preflight: Preflight | 'pending';
  readonly outcome: ReviewOutcome | null;
}

export interface Bounded {
  /** How long to wait. */
  readonly timeoutMs?: number;
}

export const SUBMIT_TIMEOUT_MS = 10_000;

/**
 * The calls that both clients have: `GatewayClient` over HTTP and `Countersign` over Temporal. `guard` and channels take either, and
 * this interface imports neither, so a backend without `@temporalio/client` can compile and load them.
 */
export interface ReviewCalls {
  readonly tenant: string;
  readonly trust: ReceiptTrust | null;
  prepare(input: SubmitInput): PreparedSubmission;
  submit(input: SubmitInput, bounds?: Bounded): Promise<Submitted>;
  status(changeId: string): Promise<ReviewStatus>;
  result(changeId: string, bounds?: Bounded): Promise<ReviewResult>;
  answer(changeId: string, answers: AnswerMessage['answers']): Promise<AnswerResults>;
  withdraw(changeId: string, message?: { readonly reason?: string; readonly actor?: string }): Promise<WithdrawResult>;
}
