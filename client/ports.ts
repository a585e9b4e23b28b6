import type { AnswerMessage } from '../policy/contracts/answer';
import type { ReviewOutcome } from '../policy/contracts/outcome';
import type { ByteStore } from '../policy/evidence/byte-store';
import type { ReviewPage, ReviewProjection, ReviewQuery } from '../policy/evidence/ledger-port';

export type { ReviewPage, ReviewProjection } from '../policy/evidence/ledger-port';

/** Where diff bytes go. The gateway and the CLI read them back; a backend that only submits needs no `get`. */
export type ByteSink = Pick<ByteStore, 'put'>;

/** Every member narrows. `limit` is 1 to 500, 50 unless told; `after` is the `next` of the page before. */
export type ListFilter = { readonly [K in keyof ReviewQuery]?: ReviewQuery[K] | undefined };

/** What the ledger knows of a review; `outcome` is null while it is open. */
export interface RecordedReview {
  readonly review: ReviewProjection;
  /** From the row `submitted`. */
  readonly diffSha: string;
  readonly outcome: ReviewOutcome | null;
}

/** What client and gateway read from the ledger, and the one thing they write: a refusal of what came after the end. */
export interface ClientLedger {
  readonly list: (query: ReviewQuery) => Promise<ReviewPage>;
  /** Null where the ledger never heard of it. Serves status and outcome when Temporal's retention is over. */
  readonly outcome: (changeId: string) => Promise<RecordedReview | null>;
  /** Appends `answer_refused` for a message that came to a closed review (T56). */
  readonly recordLate: (changeId: string, message: AnswerMessage, why: string) => Promise<void>;
}
