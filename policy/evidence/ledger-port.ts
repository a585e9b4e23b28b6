import type { JsonValue } from '../contracts/canonical-json';
import type { Status } from '../contracts/finding';
import type { Sha256 } from '../contracts/hash';
import type { LedgerKind, OpenedChange } from '../contracts/ledger';
import type { Mode, ReviewState, RollbackReason } from '../contracts/outcome';
import type { StoredRow } from './chain';

/** Past this many answer_refused rows of one review further ones are counted only (records.md §9). */
export const MAX_REFUSED_ROWS = 100;

/** A fact to append. */
export interface LedgerEntry {
  readonly kind: LedgerKind;
  readonly at: string;
  readonly actor: string;
  readonly body: { readonly [key: string]: JsonValue };
  /** Names the fact within change and kind, so that a retry finds it instead of writing it twice. Intent and decided share theirs: the first stands. */
  readonly factKey: string;
  /** Spends a nonce of a key in the same transaction; where it is spent already, nothing is written. */
  readonly nonce?: { readonly keyId: string; readonly nonce: string };
}

/**
 * What became of an entry. `existing`: its fact stands already, perhaps with another body: `stored` is the first, and it stands.
 * `counted`: too many refusals, only the counter was raised. `nonce_reused`: nothing was written.
 */
export type Appended =
  | { readonly status: 'appended' | 'existing'; readonly existing: boolean; readonly stored: StoredRow }
  | { readonly status: 'counted' | 'nonce_reused'; readonly existing: false; readonly stored: null };

/** The row of a review in lists and search; written in the transaction of the ledger rows that made it so. */
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
  /** Violations that still wait for a human. */
  readonly pending: number;
  readonly highestSeverity: Status | null;
  readonly openedAt: string;
  readonly updatedAt: string;
  readonly deadlineAt: string | null;
  readonly closedAt: string | null;
  /** One line for people, from the bytes, never from the agent's words. */
  readonly summary: string;
}

/**
 * Members to change; the first one for a change must have tenant, target, sourceTool, inputSha, mode and openedAt.
 * Ignored when every entry of the append stood already (a retry), and once closed, unless it sets closedAt itself.
 */
export type ProjectionPatch = Partial<Omit<ReviewProjection, 'changeId' | 'updatedAt'>>;

export interface ReviewQuery {
  readonly tenant?: string;
  readonly state?: ReviewState;
  readonly target?: string;
  /** 1 to 500. */
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string;
}

export interface ReviewPage {
  /** Newest first. */
  readonly reviews: readonly ReviewProjection[];
  readonly next: string | null;
}

/** A reject that stands in the ledger: no reset, restart or resubmission undoes it. */
export interface StandingReject {
  readonly changeId: Sha256;
  readonly n: number;
  readonly at: string;
}

/** Of which changes `openedBefore` tells. Null members: any. */
export interface OpenedQuery {
  /** Opened before this one; all, where this one is not opened yet. */
  readonly changeId: Sha256;
  readonly tenant: string | null;
  readonly target: string | null;
  readonly sourceTool: string | null;
  /** Also those of which nobody knows the requester. */
  readonly requester: string | null;
  /** Opened after this time; ISO 8601. */
  readonly since: string;
  /** Left out where they were rolled back for one of these. */
  readonly except: readonly RollbackReason[];
  readonly limit: number;
}

/** Which change and which message spent a nonce. */
export interface SpentNonce {
  readonly keyId: string;
  readonly nonce: string;
  readonly changeId: Sha256;
  readonly factKey: string;
}

export interface LedgerReader {
  /** All rows of one change in order; empty for an unknown one. */
  read(changeId: Sha256): Promise<readonly StoredRow[]>;
  readKinds(changeId: Sha256, kinds: readonly LedgerKind[]): Promise<readonly StoredRow[]>;
  review(changeId: Sha256): Promise<ReviewProjection | null>;
  listReviews(query: ReviewQuery): Promise<ReviewPage>;
  /** Rejects of the same input under other change ids, which means other request keys. At most 20, newest first. */
  rejectedInputs(inputSha: Sha256, exceptChangeId: Sha256): Promise<readonly StandingReject[]>;
  /** Changes that were measured when they were opened, newest first. */
  openedBefore(query: OpenedQuery): Promise<readonly OpenedChange[]>;
  /** Refused attempts past MAX_REFUSED_ROWS. */
  refusedBeyondRows(changeId: Sha256): Promise<number>;
  spentNonces(changeId: Sha256): Promise<readonly SpentNonce[]>;
}

/** The append-only ledger. Throws STORE_UNAVAILABLE, retryable, while the database is away: no ledger entry, no commit (P8). */
export interface Ledger extends LedgerReader {
  /**
   * All entries and the projection in one transaction. Results in the order of the entries. A change is opened once and
   * whole: where `submitted` stands already, its result is the last one, and no entry after it is written.
   */
  append(changeId: Sha256, entries: readonly LedgerEntry[], projection?: ProjectionPatch): Promise<readonly Appended[]>;
}

/**
 * Runs `work` in a transaction under an exclusive lock for `name`, so the next call with that name reads what this one appended.
 * Rolls back if `work` throws. Throws STORE_UNAVAILABLE (retryable) if the lock is not acquired in time.
 */
export type WithAdvisoryLock = <T>(name: string, work: (ledger: Ledger) => Promise<T>) => Promise<T>;
