import type { JsonValue } from '../contracts/canonical-json';
import type { Status } from '../contracts/finding';
import type { Sha256 } from '../contracts/hash';
import type { LedgerKind, OpenedChange } from '../contracts/ledger';
import type { Mode, ReviewState, RollbackReason } from '../contracts/outcome';
import type { StoredRow } from './chain';

/** Most `answer_refused` rows of one review. Further refusals only increment a counter. */
export const MAX_REFUSED_ROWS = 100;

/** A fact to append. */
export interface LedgerEntry {
  readonly kind: LedgerKind;
  readonly at: string;
  readonly actor: string;
  readonly body: { readonly [key: string]: JsonValue };
  /**
   * Idempotency key within change and kind: a retry finds the existing row. `intent` and `decided` share one key, so that
   * only the first of them is written.
   */
  readonly factKey: string;
  /** Nonce of a key, spent in the same transaction. If it is already spent, nothing is written. */
  readonly nonce?: { readonly keyId: string; readonly nonce: string };
}

/**
 * Result of one entry. `existing`: a row with this fact key exists, possibly with another body; `stored` is that row.
 * `counted`: only the counter of refusals was incremented. `nonce_reused`: nothing was written.
 */
export type Appended =
  | { readonly status: 'appended' | 'existing'; readonly existing: boolean; readonly stored: StoredRow }
  | { readonly status: 'counted' | 'nonce_reused'; readonly existing: false; readonly stored: null };

/** The row of a review in lists and search. Written in the same transaction as the ledger rows that it reflects. */
export interface ReviewProjection {
  readonly changeId: Sha256;
  readonly tenant: string;
  readonly target: string;
  readonly sourceTool: string;
  readonly inputSha: Sha256;
  readonly state: ReviewState;
  readonly reason: RollbackReason | null;
  readonly mode: Mode;
  readonly requester: string | null;
  /** Number of violations that wait for a person. */
  readonly pending: number;
  readonly highestSeverity: Status | null;
  readonly openedAt: string;
  readonly updatedAt: string;
  readonly deadlineAt: string | null;
  readonly closedAt: string | null;
  /** One line for display, derived from the diff and never from the agent's prose. */
  readonly summary: string;
}

/**
 * Members to update. The first patch of a change must have tenant, target, sourceTool, inputSha, mode and openedAt.
 * Ignored if every entry of the append already existed (a retry), and for a closed review unless it sets `closedAt`.
 */
export type ProjectionPatch = Partial<Omit<ReviewProjection, 'changeId' | 'updatedAt'>>;

export interface ReviewQuery {
  readonly tenant?: string;
  readonly state?: ReviewState;
  readonly target?: string;
  /** 1 to 500. */
  readonly limit: number;
  /** `next` of the previous page. */
  readonly after?: string;
}

export interface ReviewPage {
  /** Newest first. */
  readonly reviews: readonly ReviewProjection[];
  readonly next: string | null;
}

/** A reject in the ledger. A reset, restart or resubmission does not undo it. */
export interface StandingReject {
  readonly changeId: Sha256;
  readonly n: number;
  readonly at: string;
}

/** Filter of `openedBefore`. A null member matches any value. */
export interface OpenedQuery {
  /** Changes opened before this one; all changes if this one is not open yet. */
  readonly changeId: Sha256;
  readonly tenant: string | null;
  readonly target: string | null;
  readonly sourceTool: string | null;
  /** Also matches changes without a known requester. */
  readonly requester: string | null;
  /** Changes opened after this time, in ISO 8601. */
  readonly since: string;
  /** Excludes changes that were rolled back for one of these reasons. */
  readonly except: readonly RollbackReason[];
  readonly limit: number;
}

/** A spent nonce, with the change and the fact that spent it. */
export interface SpentNonce {
  readonly keyId: string;
  readonly nonce: string;
  readonly changeId: Sha256;
  readonly factKey: string;
}

export interface LedgerReader {
  /** All rows of one change in order; empty for an unknown change. */
  read(changeId: Sha256): Promise<readonly StoredRow[]>;
  readKinds(changeId: Sha256, kinds: readonly LedgerKind[]): Promise<readonly StoredRow[]>;
  review(changeId: Sha256): Promise<ReviewProjection | null>;
  listReviews(query: ReviewQuery): Promise<ReviewPage>;
  /** Rejects of the same input under other change ids, that is, with other request keys. At most 20, newest first. */
  rejectedInputs(inputSha: Sha256, exceptChangeId: Sha256): Promise<readonly StandingReject[]>;
  /** Changes with recorded measurements, newest first. */
  openedBefore(query: OpenedQuery): Promise<readonly OpenedChange[]>;
  /** Number of refused answers beyond MAX_REFUSED_ROWS. */
  refusedBeyondRows(changeId: Sha256): Promise<number>;
  spentNonces(changeId: Sha256): Promise<readonly SpentNonce[]>;
}

/**
 * The append-only ledger. Throws STORE_UNAVAILABLE (retryable) while the database is unavailable, so that no change is
 * committed without its ledger entry.
 */
export interface Ledger extends LedgerReader {
  /**
   * Writes all entries and the projection in one transaction and returns the results in entry order. Opening a change is
   * atomic: if its `submitted` row exists, the entries after it are not written and its result is the last one.
   */
  append(changeId: Sha256, entries: readonly LedgerEntry[], projection?: ProjectionPatch): Promise<readonly Appended[]>;
}

/**
 * Runs `work` in a transaction under an exclusive lock for `name`, so the next call with that name reads what this one appended.
 * Rolls back if `work` throws. Throws STORE_UNAVAILABLE (retryable) if the lock is not acquired in time.
 */
export type WithAdvisoryLock = <T>(name: string, work: (ledger: Ledger) => Promise<T>) => Promise<T>;
