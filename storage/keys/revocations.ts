import { signedBy } from '../../signing/signed-by';

/** A row of `key_revocations`. */
export interface RevocationRow {
  readonly keyId: string;
  /** Any JSON: the database does not verify it. */
  readonly envelope: unknown;
  /** ISO 8601. Set by the database. */
  readonly addedAt: string;
}

export interface RevocationOfKey {
  readonly envelope: unknown;
  readonly revokedAt: string;
  /** Why it cannot be verified; null if a trusted operator signed it. */
  readonly problem: string | null;
}

/**
 * The first revocation that a trusted operator signed. Without one, the first of the rest: an unsigned one must not take the place of
 * a genuine one. It still revokes the key, at the time that the database gave its row. Null if there is none at all.
 */
export function revocationAmong(rows: readonly RevocationRow[], operators: readonly string[]): RevocationOfKey | null {
  const all = rows.map((row) => read(row, operators));
  return all.find(({ problem }) => problem === null) ?? all[0] ?? null;
}

function read({ keyId, envelope, addedAt }: RevocationRow, operators: readonly string[]): RevocationOfKey {
  const signed = signedBy('key-revocation', envelope, operators, 'operator');
  if (!signed.ok) return { envelope, revokedAt: addedAt, problem: signed.message };
  return signed.predicate.keyId === keyId
    ? { envelope, revokedAt: signed.predicate.revokedAt, problem: null }
    : { envelope, revokedAt: addedAt, problem: 'the revocation is for another key' };
}
