import { ANY_TENANT, type Enrollment } from '../../policy/evidence/predicates';
import type { LoadedKey } from '../../signing/key-file';
import { databaseClock, withDatabase, type Queryable } from '../../storage/database/database';
import { createEnrollments } from '../../storage/keys/enrollments';
import { createKeyRegistry } from '../../storage/keys/key-registry';
import { newLink } from '../../storage/keys/new-link';
import { openLinks } from '../../storage/keys/open-links';
import type { OperatorKey } from '../../signing/operator-key';

/** A link that was made for a person who has no key yet. */
interface MadeLink {
  readonly person: string;
  readonly link: string;
  readonly expiresAt: string;
}

/** A link of an earlier run. It cannot be printed again: its private key is not stored. */
interface OpenLink {
  readonly person: string;
  /** Revoking it revokes the link. */
  readonly keyId: string;
  readonly expiresAt: string;
}

export interface Invited {
  readonly made: readonly MadeLink[];
  readonly open: readonly OpenLink[];
}

export interface Invitation {
  readonly operatorUrl: string;
  readonly operator: LoadedKey;
  /** Public keys: the keys and links that any of them signed count. */
  readonly trustedOperators: readonly OperatorKey[];
  readonly persons: readonly string[];
  readonly tenant: string;
  readonly publicUrl: string;
}

const VALID_MS = 24 * 60 * 60_000;

/** Makes all links or none: one for each person who has neither an active key in the tenant nor an open link at this address. */
export async function invite(invitation: Invitation): Promise<Invited> {
  if (invitation.persons.length === 0) return { made: [], open: [] };
  const options = { url: invitation.operatorUrl, applicationName: 'countersign-init', max: 1 };
  return await withDatabase(options, (db) =>
    db.transaction(async (tx) => {
      // Two runs at the same time would both make a link for a person.
      await tx.query(`select pg_advisory_xact_lock(hashtextextended('countersign/enrollment-links', 0))`);
      return await enrollmentLinks(tx, invitation);
    }),
  );
}

async function enrollmentLinks(
  db: Queryable,
  { operator, trustedOperators, persons, tenant, publicUrl }: Invitation,
): Promise<Invited> {
  const enrollments = createEnrollments({ db, trustedOperators });
  const { keys } = await createKeyRegistry({ db, trustedOperators, now: Date.now }).snapshot();
  const inTenant = ({ tenants }: Pick<Enrollment, 'tenants'>): boolean =>
    tenants.includes(tenant) || tenants.includes(ANY_TENANT);
  const approvers = keys.filter((key) => key.kind === 'approver' && key.revokedAt === null && inTenant(key));
  const missing = persons.filter((person) => !approvers.some(({ subject }) => subject.id === person));
  const open = (await openLinks(db, enrollments))
    .filter((link) => link.origins.includes(publicUrl) && inTenant(link))
    .map(({ subject, keyId, expiresAt }) => ({ person: subject.id, keyId, expiresAt }))
    .filter(({ person }) => missing.includes(person));
  const made: MadeLink[] = [];
  const now = await databaseClock(db)();
  for (const person of missing.filter((each) => !open.some((link) => link.person === each))) {
    const request = { person, tenants: [tenant], publicUrl, validMs: VALID_MS, now };
    const { link, expiresAt } = await newLink(enrollments, request, operator);
    made.push({ person, link, expiresAt });
  }
  return { made, open };
}
