import type { Envelope } from '../../policy/contracts/diff';
import type { Queryable } from '../database/database';

/** A row of the registry as it was signed. Nothing of it is believed here. */
export interface KeyEnvelopes {
  readonly keyId: string;
  readonly entry: Envelope;
  readonly revocation: Envelope | null;
}

export interface KeyEnvelopeReader {
  /** By key id; ids that the registry does not know are left out. */
  envelopesOf(keyIds: readonly string[]): Promise<readonly KeyEnvelopes[]>;
}

/** The signed entries themselves, for evidence: whoever verifies it has operators of their own. */
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
