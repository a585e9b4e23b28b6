import { z } from 'zod';
import type { JsonValue } from '../contracts/canonical-json';
import { Sha256Hex } from '../contracts/diff';
import { Status } from '../contracts/finding';
import type { Sha256 } from '../contracts/hash';
import type { LedgerKind, MeasuredChange } from '../contracts/ledger';
import { Mode, ReviewState, RollbackReason } from '../contracts/outcome';
import type { StoredRow } from './chain';

/** Kinds of rows that record a refused attempt. */
export const REFUSALS = ['answer_refused', 'refused'] as const satisfies readonly LedgerKind[];

/**
 * Most rows of one review for refused answers by one role, and for other refusals by one role and check. Further ones, and repeats
 * of the same message, only increment a counter.
 */
export const MAX_REFUSED_ROWS = 100;

/** Statements of people. */
export const STATEMENTS = ['answer_accepted', 'retracted', 'withdrawn', 'superseded'] as const;

/** Verdicts on answers, withdrawals and supersessions: none is written if another arrived after `expectedN`. */
export const VERDICTS = [...STATEMENTS, 'answer_refused'] as const satisfies readonly LedgerKind[];

/** A fact to append. The ledger adds `actor`, the database role of the process. */
export interface LedgerEntry {
  readonly kind: LedgerKind;
  readonly at: string;
  readonly body: { readonly [key: string]: JsonValue };
  /**
   * Idempotency key within change and kind: a retry finds the existing row. `intent` and `decided` share one key, and
   * so do `withdrawn` and `superseded`, so that only the first of the two is written. Kinds that several roles append have one set
   * of keys for each role. A refusal that is keyed by its message has a `#` before the digest.
   */
  readonly factKey: string;
  /**
   * Nonce of a key, spent in the same transaction. If it is already spent, nothing is written. `passkey`: the counter of the passkey that
   * signed, and the digest of its assertion. If the counter is not above the last one, and the assertion is another, nothing is written;
   * an authenticator without a counter always sends 0.
   */
  readonly nonce?: {
    readonly keyId: string;
    readonly nonce: string;
    readonly passkey?: { readonly counter: number; readonly assertionSha: Sha256 };
  };
}

/**
 * Result of one entry. `existing`: a row with this fact key exists, possibly with another body; `stored` is that row,
 * and a refusal was counted on it. `counted`: only the counter of refusals was incremented. `nonce_reused`, `counter_regressed`, `settled`
 * and `moved`: nothing was written. `settled`: the change ends or has ended, and rows of this kind may not follow (AFTER_SETTLEMENT, AFTER_CLOSED,
 * AFTER_HEAD). `moved`: an `intent` was refused, because the change was withdrawn or superseded; an `intent` or `decided` was refused, because
 * a row that may not follow it has a number above `expectedN`; or a row of VERDICTS was refused, because an earlier append wrote one with a
 * number above `expectedN`.
 */
export type Appended =
  | { readonly status: 'appended' | 'existing'; readonly existing: boolean; readonly stored: StoredRow }
  | {
      readonly status: 'counted' | 'nonce_reused' | 'counter_regressed' | 'settled' | 'moved';
      readonly existing: false;
      readonly stored: null;
    };

/** The row of a review in lists and search. Written in the same transaction as the ledger rows that it reflects. */
export const ReviewProjection = z.object({
  changeId: Sha256Hex,
  tenant: z.string(),
  target: z.string(),
  sourceTool: z.string(),
  inputSha: Sha256Hex,
  state: ReviewState,
  reason: RollbackReason.nullable(),
  mode: Mode,
  requester: z.string().nullable(),
  /** Number of violations that wait for a person. */
  pending: z.int(),
  highestSeverity: Status.nullable(),
  openedAt: z.string(),
  updatedAt: z.string(),
  deadlineAt: z.string().nullable(),
  closedAt: z.string().nullable(),
  /** One line for display, derived from the diff and never from the agent's prose. */
  summary: z.string(),
});
export type ReviewProjection = Readonly<z.infer<typeof ReviewProjection>>;

/**
 * Members to update. The first patch of a change must have tenant, target, sourceTool, inputSha, mode and openedAt, which do not change
 * later; if the append has a row `submitted`, they are taken from it. Only the committer sets an end.
 * Ignored if every entry of the append already existed (a retry), and for a closed review unless it sets `closedAt`.
 */
export type ProjectionPatch = Partial<Omit<ReviewProjection, 'changeId' | 'updatedAt'>>;

/** Digits of a change id or violation id that people type and that lists show. */
export const MIN_ID_PREFIX = 8;

export function isIdPrefix(text: string): boolean {
  return /^[0-9a-f]{8,64}$/.test(text);
}

export interface ReviewQuery {
  readonly tenant?: string;
  readonly state?: ReviewState;
  readonly target?: string;
  /** Change ids that start with these hex digits, at least MIN_ID_PREFIX of them. */
  readonly idPrefix?: string;
  /** 1 to 500. */
  readonly limit: number;
  /** `next` of the previous page. */
  readonly after?: string;
}

export const ReviewPage = z.object({
  /** Newest first. */
  reviews: z.array(ReviewProjection).readonly(),
  next: z.string().nullable(),
});
export type ReviewPage = Readonly<z.infer<typeof ReviewPage>>;

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
  readonly requester: string | null;
  /** Changes without a known requester match only if their commit had begun before this change was opened. */
  readonly unknownOnlyCommitted: boolean;
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

/** `factKey` is that of the repeated row with kind and role, or the part that it has in common with the other rows of its group. */
export interface RefusalCount {
  readonly factKey: string;
  readonly count: number;
}

export interface LedgerReader {
  /** All rows of one change in order; empty for an unknown change. */
  read(changeId: Sha256): Promise<readonly StoredRow[]>;
  readKinds(changeId: Sha256, kinds: readonly LedgerKind[]): Promise<readonly StoredRow[]>;
  review(changeId: Sha256): Promise<ReviewProjection | null>;
  listReviews(query: ReviewQuery): Promise<ReviewPage>;
  /** Rejects of the same input, or of one with the same facts, under other change ids. At most 20, newest first. */
  rejectedInputs(
    of: { readonly inputSha: Sha256; readonly factsSha: Sha256 | null },
    exceptChangeId: Sha256,
  ): Promise<readonly StandingReject[]>;
  /** Changes with recorded measurements, newest first. */
  openedBefore(query: OpenedQuery): Promise<readonly MeasuredChange[]>;
  /** Refusals that have no row of their own: repeats of one that has a row, and those beyond MAX_REFUSED_ROWS. */
  refusalCounts(changeId: Sha256): Promise<readonly RefusalCount[]>;
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
   * `expectedN`: number of the last row that was read before an `intent`, a `decided` or a row of VERDICTS; by default any.
   */
  append(
    changeId: Sha256,
    entries: readonly LedgerEntry[],
    projection?: ProjectionPatch,
    expectedN?: number,
  ): Promise<readonly Appended[]>;
}

export interface AdvisoryLock {
  readonly name: string;
  /** `shared` only waits for the holder of the exclusive lock of this name, and keeps it waiting. */
  readonly mode: 'exclusive' | 'shared';
}

/**
 * Runs `work` in a transaction under these locks, acquired in the order of their names. The next call with the exclusive lock of one
 * of the names reads what this one appended. Rolls back if `work` throws. Throws STORE_UNAVAILABLE (retryable) if the locks are not
 * acquired in time.
 */
export type WithAdvisoryLock = <T>(locks: readonly AdvisoryLock[], work: (ledger: Ledger) => Promise<T>) => Promise<T>;
