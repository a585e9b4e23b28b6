import type { Envelope } from '../../policy/contracts/diff';
import type { KeyRegistration } from '../../policy/evidence/bundle';
import type { Queryable } from '../database/database';
import { revocationAmong, type RevocationRow } from './revocations';

/** The signed envelopes of a key. Not verified here. */
export interface KeyEnvelopes {
  readonly keyId: string;
  readonly registration: KeyRegistration;
}

export interface KeyEnvelopeReader {
  /** The keys with these ids. Unknown ids are omitted. */
  envelopesOf(keyIds: readonly string[]): Promise<readonly KeyEnvelopes[]>;
}

/** Registered keys and enrolled passkeys, each with the revocations of its id and of its link, oldest first. */
export const KEY_ROWS_SQL = `
  select known.*, (
    select coalesce(json_agg(json_build_object('keyId', r.key_id, 'envelope', r.envelope,
      'addedAt', to_char(r.added_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by r.added_at), '[]')
    from key_revocations r where r.key_id in (known.key_id, known.link)) as revocations
  from (
    select key_id, envelope, null::json as enrollment, null::timestamptz as enrolled_at, null as link from keys
    union all
    select p.key_id, p.envelope, e.envelope, p.added_at, p.enrollment
    from passkeys p join enrollments e on e.key_id = p.enrollment
  ) as known`;

export interface KeyRow {
  readonly key_id: string;
  readonly envelope: Envelope;
  /** The operator's link; null for a key that an operator registered. */
  readonly enrollment: Envelope | null;
  readonly enrolled_at: Date | null;
  readonly revocations: readonly RevocationRow[];
}

/**
 * Reads the signed entries for evidence, which a verifier checks with its own trusted operator keys. Of several revocations of a key, that
 * of an operator whom this process trusts.
 */
export function keyEnvelopes(db: Queryable, operators: readonly string[]): KeyEnvelopeReader {
  return {
    async envelopesOf(keyIds) {
      const { rows } = await db.query<KeyRow>(`select * from (${KEY_ROWS_SQL}) as known where key_id = any($1)`, [
        keyIds,
      ]);
      return rows.map(({ key_id: keyId, envelope, enrollment, revocations }) => {
        const revocation = revocationAmong(revocations, operators)?.envelope ?? null;
        return {
          keyId,
          registration:
            enrollment === null ? { entry: envelope, revocation } : { enrollment, passkey: envelope, revocation },
        };
      });
    },
  };
}
