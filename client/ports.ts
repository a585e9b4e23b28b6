import type { AnswerMessage } from '../policy/contracts/answer';
import type { Evidence } from '../policy/evidence/bundle';
import type { SpendResult } from '../policy/contracts/spent';
import type { SupersedeMessage, WithdrawMessage } from '../policy/contracts/withdrawal';
import type { ByteStore } from '../policy/evidence/byte-store';
import type { StoredRow } from '../policy/evidence/chain';
import type { ReviewPage, ReviewQuery } from '../policy/evidence/ledger-port';

export type { ReviewPage, ReviewProjection } from '../policy/evidence/ledger-port';

/** Stores diff bytes. Without `get`, which a backend that only submits does not need. */
export type ByteSink = Pick<ByteStore, 'put'>;

/** All members are optional and combined with AND. `limit` is 1 to 500, default 50; `after` is `next` of the previous page. */
export type ListFilter = { readonly [K in keyof ReviewQuery]?: ReviewQuery[K] | undefined };

/** Waits for rows of one change. */
export interface Watch {
  /** Resolves when rows may have been appended, or after `timeoutMs`. The caller reads again in both cases. */
  next(timeoutMs: number): Promise<void>;
  /** A `next` that waits resolves. */
  close(): void;
}

export interface BundleOptions {
  /** With the proof that a checkpoint covers the rows. A review can be shown without it. Default false. */
  readonly inclusion?: boolean;
  /** With the rows before and after the dry run, decrypted. Default true. */
  readonly preview?: boolean;
}

/** The ledger, as used by client and gateway. They write only refusals of messages to a closed review, and the use of an approval. */
export interface ClientLedger {
  readonly list: (query: ReviewQuery) => Promise<ReviewPage>;
  /** Rows, bytes, policy and keys of a review, to be verified by the caller. Null if the ledger has no row of the change. */
  readonly bundle: (changeId: string, options?: BundleOptions) => Promise<Evidence | null>;
  readonly rows: (changeId: string) => Promise<readonly StoredRow[]>;
  /** Tenant and end of a review by its rows; null if the ledger has no row of the change. */
  readonly summary: (changeId: string) => Promise<{ readonly tenant: string | null; readonly ended: boolean } | null>;
  /** Call it before the first read. */
  readonly watch: (changeId: string) => Promise<Watch>;
  /** Appends `answer_refused` for answers to a closed review. */
  readonly recordLate: (changeId: string, message: AnswerMessage, why: string) => Promise<void>;
  /** Appends `answer_refused` with the code `too_late` for another message to a closed review. */
  readonly recordLateWithdrawal: (
    changeId: string,
    kind: 'withdraw' | 'supersede',
    message: WithdrawMessage | SupersedeMessage,
    why: string,
  ) => Promise<void>;
  /**
   * Appends `spent` for a committed change in cooperative mode, once; the first nonce has it. `keyId`: the key that asks, which must be
   * the one that signed the submission; null for a process that has the database.
   */
  readonly spend: (changeId: string, nonce: string, keyId: string | null) => Promise<SpendResult>;
}
