import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { Plan } from '../../policy/contracts/plan';
import type { PolicyRevision } from '../../policy/evidence/predicates';
import type { SignedRevision } from '../../policy/evidence/published-policy';
import type { SigningKey } from '../../signing/keys';
import { isSameRevision, signRevision } from '../../signing/policy-revision';
import { databaseClock, type Database, type Queryable } from '../database/database';
import { newestRevision, nextRevision } from './newest-revision';
import type { OperatorKey } from '../../signing/operator-key';

export interface Publication {
  readonly bundleText: string;
  /** All plans of the bundle, compiled by this process. */
  readonly plans: readonly (PolicyRevision['plans'][number] & { readonly plan: Plan })[];
  readonly operator: SigningKey;
  /** Other operators whose revisions are in force as well. */
  readonly trustedOperators?: readonly OperatorKey[];
}

/**
 * Writes a signed revision of the bundle, dated by the clock of the database. The review worker and the committer use it for new reviews; open reviews keep their
 * pinned plan. The compiled plans are kept as well, so that processes without the bundle's extensions can show and export
 * reviews; their hashes are signed. Publishing what is in force already is a no-op and returns that revision.
 */
export async function publishBundle(
  db: Database,
  publication: Publication,
): Promise<{ readonly revision: number; readonly published: boolean }> {
  const { bundleText, operator } = publication;
  return db.transaction(async (tx) => {
    // The lock that `publish_policy` takes: no other revision is published between reading the number and writing.
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('countersign/policy', 0))`);
    const { newest } = await newestRevision(tx, [operator.publicKey, ...(publication.trustedOperators ?? [])]);
    if (newest !== null && isSameRevision(newest.revision, publication))
      return { revision: newest.revision.revision, published: false };
    const revision = await nextRevision(tx);
    const envelope = signRevision(revision, publication, operator, await databaseClock(tx)());
    const plans = publication.plans.map(({ plan }) => plan);
    const next = await storeRevision(tx, revision, { envelope, bundleText, plans });
    if (next !== null) throw new Error(`Policy revision ${revision} is taken in spite of the lock; next is ${next}`);
    return { revision, published: true };
  });
}

/**
 * Stores a signed revision with its plans, for the roles that may call `publish_policy`. Null if it is stored, also if it was before;
 * otherwise nothing is stored, because the next revision must have the number that is returned.
 */
export async function storeRevision(
  db: Queryable,
  revision: number,
  { envelope, bundleText, plans }: SignedRevision,
): Promise<number | null> {
  const { rows } = await db.query<{ next: number | null }>('select publish_policy($1, $2, $3, $4) as next', [
    revision,
    bundleText,
    JSON.stringify(envelope),
    plans.map((plan) => canonicalJson(plan)),
  ]);
  return rows[0]?.next ?? null;
}
