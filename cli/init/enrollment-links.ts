import type { KeySnapshot } from '../../policy/evidence/key-registry';
import { ANY_TENANT } from '../../policy/evidence/predicates';
import type { LoadedKey } from '../../signing/key-file';
import type { Queryable } from '../../storage/database/database';
import { createEnrollments } from '../../storage/keys/enrollments';
import { newLink } from '../../storage/keys/new-link';
import { openLinks } from '../../storage/keys/open-links';

/** A link that was made for a person who has no key yet. */
export interface MadeLink {
  readonly person: string;
  readonly link: string;
  readonly expiresAt: string;
}

export interface LinksWanted {
  readonly persons: readonly string[];
  readonly tenant: string;
  readonly publicUrl: string;
  readonly operator: LoadedKey;
  readonly snapshot: KeySnapshot;
}

const VALID_MS = 24 * 60 * 60_000;

/** Makes a link for each person who has neither an active key in the tenant nor an open link at this address. */
export async function enrollmentLinks(db: Queryable, wanted: LinksWanted): Promise<readonly MadeLink[]> {
  const { persons, tenant, publicUrl, operator, snapshot } = wanted;
  const enrollments = createEnrollments({ db, trustedOperators: [operator.publicKey] });
  const inTenant = (tenants: readonly string[]): boolean => tenants.includes(tenant) || tenants.includes(ANY_TENANT);
  const open = (await openLinks(db, enrollments)).filter(({ origins }) => origins.includes(publicUrl));
  const known = new Set(
    [...snapshot.keys.filter(({ kind, revokedAt }) => kind === 'approver' && revokedAt === null), ...open]
      .filter(({ tenants }) => inTenant(tenants))
      .map(({ subject }) => subject.id),
  );
  const made: MadeLink[] = [];
  for (const person of persons.filter((each) => !known.has(each))) {
    const request = { person, tenants: [tenant], publicUrl, validMs: VALID_MS, now: new Date() };
    const { link, expiresAt } = await newLink(enrollments, request, operator);
    made.push({ person, link, expiresAt });
  }
  return made;
}
