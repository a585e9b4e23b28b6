import type { AnswerMessage } from '../policy/contracts/answer';
import type { ReviewOutcome } from '../policy/contracts/outcome';
import type { ByteStore } from '../policy/evidence/byte-store';
import type { ReviewPage, ReviewProjection, ReviewQuery } from '../policy/evidence/ledger-port';

export type { ReviewPage, ReviewProjection } from '../policy/evidence/ledger-port';

/** Stores diff bytes. Without `get`, which a backend that only submits does not need. */
export type ByteSink = Pick<ByteStore, 'put'>;

/** All members are optional and combined with AND. `limit` is 1 to 500, default 50; `after` is `next` of the previous page. */
export type ListFilter = { readonly [K in keyof ReviewQuery]?: ReviewQuery[K] | undefined };

/** A review as recorded in the ledger; `outcome` is null while it is open. */
export interface RecordedReview {
  readonly review: ReviewProjection;
  /** From the row `submitted`. */
  readonly diffSha: string;
  readonly outcome: ReviewOutcome | null;
}

/** The ledger, as used by client and gateway. They write only refusals of answers to a closed review. */
export interface ClientLedger {
  readonly list: (query: ReviewQuery) => Promise<ReviewPage>;
  /** Null if the ledger does not have the review. Used for status and outcome after Temporal's retention period. */
  readonly outcome: (changeId: string) => Promise<RecordedReview | null>;
  /** Appends `answer_refused` for a message to a closed review. */
  readonly recordLate: (changeId: string, message: AnswerMessage, why: string) => Promise<void>;
}
