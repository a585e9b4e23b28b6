import type { PolicyRevision } from '../../policy/evidence/predicates';
import type { Queryable } from '../database/database';
import { revokedRevisions, trustedRevisions, type TrustedRevision } from './plan-source';
import { operatorVerifier, storedRevisions } from './stored-revisions';
import type { OperatorKey } from '../../signing/operator-key';

interface Revisions {
  /** The newest that a trusted operator signed and none revoked; null if no revision is in force. */
  readonly newest: TrustedRevision | null;
  /** All that a trusted operator signed, newest first. */
  readonly signed: readonly TrustedRevision[];
}

/** What is published, verified with these operator keys. */
export async function newestRevision(db: Queryable, trustedOperators: readonly OperatorKey[]): Promise<Revisions> {
  const { verifyRevision, verifyRevocation } = operatorVerifier(trustedOperators);
  const stored = storedRevisions(db);
  const signed = trustedRevisions(await stored.list(), verifyRevision);
  const revoked = revokedRevisions(await stored.revocations(), verifyRevocation);
  return { newest: signed.find(({ revision }) => !revoked.has(revision.revision)) ?? null, signed };
}

interface PublishedTargets {
  /** The newest revision that is not revoked; null if none is published. */
  readonly newest: PolicyRevision | null;
  /** Targets of all revisions: a review may be open under an older one. */
  readonly all: ReadonlySet<string>;
}

/** What policies that a trusted operator signed say about targets. */
export async function publishedTargets(
  db: Queryable,
  trustedOperators: readonly OperatorKey[],
): Promise<PublishedTargets> {
  const { newest, signed } = await newestRevision(db, trustedOperators);
  return {
    newest: newest?.revision ?? null,
    all: new Set(signed.flatMap(({ revision }) => revision.plans.map(({ target }) => target))),
  };
}

/** The number of the next revision: of all rows, also of those that no trusted operator signed. */
export async function nextRevision(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ next: number }>(
    'select coalesce(max(revision), 0) + 1 as next from policy_revisions',
  );
  return rows[0]?.next ?? 1;
}
