import type { PolicyRevision } from '../../policy/evidence/predicates';
import type { Queryable } from '../database/database';
import { newestRevision } from './newest-revision';

interface PublishedTargets {
  /** The newest revision that is not revoked; null if none is published. */
  readonly newest: PolicyRevision | null;
  /** Targets of all revisions: a review may be open under an older one. */
  readonly all: ReadonlySet<string>;
}

/** What policies that a trusted operator signed say about targets. */
export async function publishedTargets(db: Queryable, trustedOperators: readonly string[]): Promise<PublishedTargets> {
  const { newest, signed } = await newestRevision(db, trustedOperators);
  return {
    newest: newest?.revision ?? null,
    all: new Set(signed.flatMap(({ revision }) => revision.plans.map(({ target }) => target))),
  };
}
