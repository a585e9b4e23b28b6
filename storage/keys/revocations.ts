import type { Envelope } from '../../policy/contracts/diff';
import { signedBy, signedByOperator } from '../../signing/signed-by';
import type { Queryable } from '../database/database';
import type { OperatorKey } from '../../signing/operator-key';

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
export function revocationAmong(
  rows: readonly RevocationRow[],
  operators: readonly OperatorKey[],
): RevocationOfKey | null {
  const all = rows.map((row) => read(row, operators));
  return all.find(({ problem }) => problem === null) ?? all[0] ?? null;
}

/** Does nothing if one of the operators has revoked this id before. A row that none of them signed does not count. */
export async function storeRevocation(
  db: Queryable,
  keyId: string,
  envelope: Envelope,
  operators: readonly OperatorKey[],
): Promise<void> {
  const { rows } = await db.query<{ readonly envelope: unknown; readonly addedAt: Date }>(
    'select envelope, added_at as "addedAt" from key_revocations where key_id = $1',
    [keyId],
  );
  if (
    rows.some(
      (row) => signedByOperator('key-revocation', row.envelope, operators, row.addedAt.toISOString())?.keyId === keyId,
    )
  )
    return;
  await db.query('insert into key_revocations (key_id, envelope) values ($1, $2)', [keyId, JSON.stringify(envelope)]);
}

function read({ keyId, envelope, addedAt }: RevocationRow, operators: readonly OperatorKey[]): RevocationOfKey {
  const signed = signedBy('key-revocation', envelope, operators, 'operator', addedAt);
  if (!signed.ok) return { envelope, revokedAt: addedAt, problem: signed.message };
  return signed.predicate.keyId === keyId
    ? { envelope, revokedAt: signed.predicate.revokedAt, problem: null }
    : { envelope, revokedAt: addedAt, problem: 'the revocation is for another key' };
}
