import type { Envelope } from '../../policy/contracts/diff';
import type { Queryable } from '../database/database';

/** The signed envelopes of a registry row. Not verified here. */
export interface KeyEnvelopes {
  readonly keyId: string;
  readonly entry: Envelope;
  readonly revocation: Envelope | null;
}

export interface KeyEnvelopeReader {
  /** Rows of these key ids. Unknown ids are omitted. */
  envelopesOf(keyIds: readonly string[]): Promise<readonly KeyEnvelopes[]>;
}

/** Reads the signed entries for evidence, which a verifier checks with its own trusted operator keys. */
export function keyEnvelopes(db: Queryable): KeyEnvelopeReader {
  return {
    async envelopesOf(keyIds) {
      const { rows } = await db.query<{ key_id: string; envelope: Envelope; revocation: Envelope | null }>(
        'select k.key_id, k.envelope, r.envelope as revocation from keys k left join key_revocations r using (key_id) where k.key_id = any($1)',
        [keyIds],
      );
      return rows.map(({ key_id: keyId, envelope: entry, revocation }) => ({ keyId, entry, revocation }));
    },
  };
}
