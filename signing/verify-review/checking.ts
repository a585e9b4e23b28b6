import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { Submission } from '../../policy/contracts/diff';
import { inputSha as inputShaOf } from '../../policy/contracts/change-id';
import type { LedgerKind, LedgerRow } from '../../policy/contracts/ledger';
import type { Plan } from '../../policy/contracts/plan';
import type { Evidence } from '../../policy/evidence/bundle';
import type { PredicateOf, StatementKind } from '../../policy/evidence/statement';
import { CLOCK_SKEW_MS } from '../assess-answer';
import { signedBy } from '../signed-by';
import type { Review, Supplied } from './record';
import type { KeyLookup } from '../../policy/evidence/key-registry';
import { withoutLaterRevocations } from '../revoked-later';
import type { OperatorKey } from '../operator-key';

/** Why a check fails. */
export class CheckFailed extends Error {}

/** Why a check could not be made. Does not count as passed. */
export class NotChecked extends Error {}

export function fail(detail: string): never {
  throw new CheckFailed(detail);
}

export function notChecked(detail: string): never {
  throw new NotChecked(detail);
}

/** Fails unless both are the same JSON, member for member. */
export function assertSame(a: unknown, b: unknown, detail: string): void {
  if (canonicalJson(a ?? null) !== canonicalJson(b ?? null)) fail(detail);
}

/** The value that a source supplied. Fails if the source refused; `NotChecked` if the caller has no such source. */
export function supplied<T>(source: Supplied<T> | null, missing: string): T {
  if (source === null) return notChecked(missing);
  return source.ok ? source.value : fail(source.explanation);
}

export function rowOf(rows: readonly LedgerRow[], ...kinds: readonly LedgerKind[]): LedgerRow | null {
  return rows.find((row) => kinds.includes(row.kind)) ?? null;
}

/**
 * Whether a revocation of this time was in effect at the moment of the review. It is dated before it is in the database, so a committer
 * can begin a commit before it can read a revocation with an earlier time. The receipt of a trusted committer says that it had read all
 * revocations, hence the tolerance offline.
 */
export function wasRevoked(revokedAt: string, review: Review): boolean {
  const tolerance = review.sources.context === 'evidence' && review.end?.action === 'COMMIT' ? CLOCK_SKEW_MS : 0;
  return !(Date.parse(revokedAt) + tolerance > Date.parse(review.at));
}

/** The predicate of the envelope. Fails if none of the trusted public keys signed it; `who`: whose keys they are. */
export function signedByOne<K extends StatementKind>(
  kind: K,
  envelope: unknown,
  trusted: readonly OperatorKey[],
  who: string,
): PredicateOf<K> {
  const signed = signedBy(kind, envelope, trusted, who);
  return signed.ok ? signed.predicate : fail(`${kind}: ${signed.message}`);
}

/** The evidence file; `NotChecked` without one. */
export function fileOf({ record }: Review): Evidence {
  return record.file ?? notChecked('there is no evidence file');
}

/** The submission and the plan of an opened review; null for one that ended before a plan was pinned. */
export interface OpenedReview {
  readonly changeId: string;
  readonly submission: Submission;
  readonly inputSha: string;
  readonly plan: Plan;
  readonly planHash: string;
}

export function openedOf(review: Review): OpenedReview | null {
  const submission = review.need('submission');
  const pinned = review.need('pinned');
  if (submission === null || pinned === null) return null;
  return { changeId: review.record.changeId, submission, inputSha: inputShaOf(submission), ...pinned };
}

export const NEVER_OPENED = 'none: no plan was pinned';

/** The outcome to verify: in the committer the commit that is about to begin, in a file the one in the receipt. */
export function claimOf(review: Review): NonNullable<Review['end']> {
  return review.sources.context === 'commit' && review.end !== null ? review.end : review.need('receipt');
}

/**
 * The registry with which a statement in a row of the time `at` is verified. For a commit it is the registry as it is: no revoked key
 * supports one. Otherwise a key that was revoked later still counts, because what it signed before explains why nothing was committed,
 * or is what people were shown.
 */
export function keysAt(review: Review, at: string): KeyLookup {
  const keys = review.need('keys');
  return review.end?.action === 'COMMIT' ? keys : withoutLaterRevocations(keys, at);
}
