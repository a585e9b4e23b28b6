import { z } from 'zod';
import type { AnswerMessage, AnswerResults } from '../policy/contracts/answer';
import { Sha256Hex } from '../policy/contracts/diff';
import { ReviewOutcome } from '../policy/contracts/outcome';
import { Preflight, type ReviewStatus } from '../policy/contracts/status';
import type { SpendResult } from '../policy/contracts/spent';
import type { WithdrawResult } from '../policy/contracts/withdrawal';
import type { VerifiedReview } from '../signing/verified-review';
import type { ReceiptTrust } from './receipt';
import type { ReviewResult } from './result';
import type { WithdrawInput } from './sign-withdrawal';
import type { PreparedSubmission, SubmitInput } from './submission';

/** Result of `submit`. `outcome` is set if the same change was submitted before and its review is closed. */
export const Submitted = z.object({
  changeId: Sha256Hex,
  /** `'pending'`: no preflight in time; the review continues. */
  preflight: z.union([Preflight, z.literal('pending')]),
  outcome: ReviewOutcome.nullable(),
});
export type Submitted = Readonly<z.infer<typeof Submitted>>;

export interface Bounded {
  /** Maximum time to wait. */
  readonly timeoutMs?: number;
}

/** `signal` ends the wait early, as the time-out does. */
export interface Waiting extends Bounded {
  readonly signal?: AbortSignal;
}

export const SUBMIT_TIMEOUT_MS = 10_000;

/**
 * The methods that both clients have: `GatewayClient` over HTTP and `Countersign` over Temporal. `guard` and channels accept either.
 * This file imports neither, so a backend without `@temporalio/client` can compile and load it.
 */
export interface ReviewCalls {
  readonly tenant: string;
  readonly trust: ReceiptTrust | null;
  /** Validates and hashes a submission without sending it. Gives its `changeId`. Throws `invalid_input`. */
  prepare(input: SubmitInput): PreparedSubmission;
  submit(input: SubmitInput, bounds?: Bounded): Promise<Submitted>;
  review(changeId: string): Promise<VerifiedReview>;
  status(changeId: string): Promise<ReviewStatus>;
  result(changeId: string, waiting?: Waiting): Promise<ReviewResult>;
  answer(changeId: string, answers: AnswerMessage['answers']): Promise<AnswerResults>;
  /**
   * Uses the approval of a cooperative change, before its effect. `spent` is true for one nonce only, for all callers together and however often
   * the receipt is shown. Throws if neither gateway nor ledger can be reached; then the effect must not be performed.
   */
  spend(changeId: string, nonce: string): Promise<SpendResult>;
  withdraw(changeId: string, input?: WithdrawInput): Promise<WithdrawResult>;
}
