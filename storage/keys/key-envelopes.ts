import type { Envelope } from '../../policy/contracts/diff';
import type { KeyRegistration } from '../../policy/evidence/bundle';
import type { Queryable } from '../database/database';

/** The signed envelopes of a key. Not verified here. */
export interface KeyEnvelopes {
  readonly keyId: string;
  readonly registration: KeyRegistration;
}

export interface KeyEnvelopeReader {
  /** The keys with these ids. Unknown ids are omitted. */
  envelopesOf(keyIds: readonly string[]): Promise<readonly KeyEnvelopes[]>;
}

/** Registered keys and enrolled passkeys, each with the first revocation of its id or of its link. */
export const KEY_ROWS_SQL = `
  select k.key_id, k.envelope, null::json as enrollment, null::timestamptz as enrolled_at, r.envelope as revocation
  from keys k left join key_revocations r using (key_id)
  union all
  select p.key_id, p.envelope, e.envelope, p.added_at,
    (select r.envelope from key_revocations r where r.key_id in (p.key_id, p.enrollment) order by r.added_at limit 1)
  from passkeys p join enrollments e on e.key_id = p.enrollment`;

export interface KeyRow {
  readonly key_id: string;
  readonly envelope: Envelope;
  /** The operator's link; null for a key that an operator registered. */
  readonly enrollment: Envelope | null;
  readonly enrolled_at: Date | null;
  readonly revocation: Envelope | null;
}

/** Reads the signed entries for evidence, which a verifier checks with its own trusted operator keys. */
export function keyEnvelopes(db: Queryable): KeyEnvelopeReader {
  return {
    async envelopesOf(keyIds) {
      const { rows } = await db.query<KeyRow>(`select * from (${KEY_ROWS_SQL}) as known where key_id = any($1)`, [
        keyIds,
      ]);
      return rows.map(({ key_id: keyId, envelope, enrollment, revocation }) => ({
        keyId,
        registration:
          enrollment === null ? { entry: envelope, revocation } : { enrollment, passkey: envelope, revocation },
      }));
    },
  };
}
