import type { PolicyRevision } from '../../policy/evidence/predicates';
import type { Queryable } from '../database/database';
import { operatorVerifier, storedRevisions } from './stored-revisions';

export interface PublishedTargets {
  /** The newest revision that is not revoked; null if none is published. */
  readonly newest: PolicyRevision | null;
  /** Targets of all revisions: a review may be open under an older one. */
  readonly all: ReadonlySet<string>;
}

/** What policies that a trusted operator signed say about targets. */
export async function publishedTargets(db: Queryable, trustedOperators: readonly string[]): Promise<PublishedTargets> {
  const { verifyRevision, verifyRevocation } = operatorVerifier(trustedOperators);
  const stored = storedRevisions(db);
  const signed = (await stored.list())
    .flatMap(({ envelope, bundleText }) => verifyRevision(envelope, bundleText) ?? [])
    .sort((a, b) => b.revision - a.revision);
  const revoked = new Set((await stored.revocations()).flatMap((each) => verifyRevocation(each)?.revision ?? []));
  return {
    newest: signed.find(({ revision }) => !revoked.has(revision)) ?? null,
    all: new Set(signed.flatMap(({ plans }) => plans.map(({ target }) => target))),
  };
}
