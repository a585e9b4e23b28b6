/**
 * One-time links and the passkeys that were made with them. Written by the operator (links) and by the gateway (passkeys).
 *
 * E1 Of each link the database takes one passkey, and of each passkey one link: unique constraints, in tables that only grow.
 * E2 What is refused here is refused by readers too (key-reader.ts): checking it here only informs the person at once, and keeps
 *    useless rows out.
 */
import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { Envelope } from '../../policy/contracts/diff';
import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import type { Enrollment } from '../../policy/evidence/predicates';
import { verifyEnrolled, verifyLink, type VerifiedLink } from '../../signing/enrollment';
import type { Queryable } from '../database/database';
import type { OperatorKey } from '../../signing/operator-key';

interface EnrollmentsDeps {
  readonly db: Queryable;
  readonly trustedOperators: readonly OperatorKey[];
}

/** An open link. */
export interface OpenLink {
  readonly enrollment: Enrollment;
  /** The operator's statement, which the page names by its digest. */
  readonly offer: Envelope;
}

/** What was verified about the new credential (Web Authentication §7.1): it must be the one that the statement names. */
interface AttestedCredential {
  readonly credentialId: string;
  /** COSE key, lower-case hex. */
  readonly publicKey: string;
}

type Enrolled =
  | { readonly ok: true; readonly keyId: string; readonly person: string }
  | { readonly ok: false; readonly code: 'not_open' | 'invalid' | 'spent'; readonly message: string };

export interface Enrollments {
  /** Stores a link. Throws VALIDATION_ERROR unless a trusted operator signed it. Adding it again is a no-op. */
  add(offer: Envelope): Promise<Enrollment>;
  /** The link of this one-time key; null if it is unknown, expired, revoked or spent. */
  enrollmentOf(keyId: string): Promise<OpenLink | null>;
  /** Enrols the passkey, exactly once: the same statement again has the same result. */
  completeEnrollment(keyId: string, statement: Envelope, credential: AttestedCredential): Promise<Enrolled>;
}

interface LinkRow {
  readonly envelope: Envelope;
  readonly signed_at: Date;
  readonly now: Date;
  readonly revoked: boolean;
  /** The passkey that was enrolled with it. */
  readonly spent: Envelope | null;
}

export function createEnrollments({ db, trustedOperators }: EnrollmentsDeps): Enrollments {
  async function read(keyId: string): Promise<(LinkRow & { readonly link: VerifiedLink }) | null> {
    const { rows } = await db.query<LinkRow>(
      `select e.envelope, e.added_at as signed_at, clock_timestamp() as now, p.envelope as spent,
         exists (select from key_revocations r where r.key_id = e.key_id) as revoked
       from enrollments e left join passkeys p on p.enrollment = e.key_id where e.key_id = $1`,
      [keyId],
      'enrollment_of',
    );
    const [row] = rows;
    const link = row === undefined ? null : verifyLink(row.envelope, trustedOperators, row.signed_at.toISOString());
    if (row === undefined || link === null || typeof link === 'string' || link.enrollment.keyId !== keyId) return null;
    return { ...row, link };
  }

  const isOpen = ({ link, now, revoked }: LinkRow & { readonly link: VerifiedLink }): boolean =>
    !revoked && now.getTime() <= Date.parse(link.enrollment.expiresAt);

  return {
    async add(offer) {
      const link = verifyLink(offer, trustedOperators);
      if (typeof link === 'string')
        throw CountersignFailure.nonRetryable(`enrollment: ${link}`, FailureType.Validation);
      await db.query('insert into enrollments (key_id, envelope) values ($1, $2) on conflict do nothing', [
        link.enrollment.keyId,
        JSON.stringify(offer),
      ]);
      return link.enrollment;
    },

    async enrollmentOf(keyId) {
      const row = await read(keyId);
      if (row === null || row.spent !== null || !isOpen(row)) return null;
      return { enrollment: row.link.enrollment, offer: row.envelope };
    },

    async completeEnrollment(keyId, statement, credential) {
      const refuse = (code: 'not_open' | 'invalid' | 'spent', message: string): Enrolled => ({
        ok: false,
        code,
        message,
      });
      const row = await read(keyId);
      if (row === null || !isOpen(row)) return refuse('not_open', 'The link is unknown, revoked or expired');
      const key = verifyEnrolled(row.link, statement);
      if (typeof key === 'string') return refuse('invalid', key);
      const { credentialId, publicKey } = key.passkey;
      if (credentialId !== credential.credentialId || publicKey !== credential.publicKey)
        return refuse('invalid', 'the statement names another credential than the one that was made');
      await db.query('insert into passkeys (enrollment, key_id, envelope) values ($1, $2, $3) on conflict do nothing', [
        keyId,
        key.keyId,
        JSON.stringify(statement),
      ]);
      const stored = (await read(keyId))?.spent ?? null;
      if (stored === null || canonicalJson(stored) !== canonicalJson(statement))
        return refuse('spent', stored === null ? 'This passkey is already enrolled' : 'The link was already used');
      return { ok: true, keyId: key.keyId, person: key.subject.id };
    },
  };
}
