import type { Envelope } from '../../policy/contracts/diff';
import type { PolicyRevision } from '../../policy/evidence/predicates';
import type { Queryable } from '../database/database';
import { operatorVerifier, storedRevisions } from './stored-revisions';

interface ReadRevision {
  readonly revision: PolicyRevision;
  readonly envelope: Envelope;
  readonly bundleText: string;
}

interface Revisions {
  /** The newest that a trusted operator signed and none revoked; null if no revision is in force. */
  readonly newest: ReadRevision | null;
  /** All that a trusted operator signed, newest first. */
  readonly signed: readonly ReadRevision[];
}

/** What is published, verified with these operator keys. */
export async function newestRevision(db: Queryable, trustedOperators: readonly string[]): Promise<Revisions> {
  const { verifyRevision, verifyRevocation } = operatorVerifier(trustedOperators);
  const stored = storedRevisions(db);
  const signed = (await stored.list())
    .flatMap(({ envelope, bundleText }) => {
      const revision = verifyRevision(envelope, bundleText);
      return revision === null ? [] : [{ revision, envelope, bundleText }];
    })
    .sort((a, b) => b.revision.revision - a.revision.revision);
  const revoked = new Set((await stored.revocations()).flatMap((each) => verifyRevocation(each)?.revision ?? []));
  return { newest: signed.find(({ revision }) => !revoked.has(revision.revision)) ?? null, signed };
}

/** The number of the next revision: of all rows, also of those that no trusted operator signed. */
export async function nextRevision(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ next: number }>(
    'select coalesce(max(revision), 0) + 1 as next from policy_revisions',
  );
  return rows[0]?.next ?? 1;
}
