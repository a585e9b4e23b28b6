/**
 * Reads the key registry, and verifies each row.
 *
 * K1 A row counts only if it is signed by an operator key that this process trusts. The database itself is not trusted. A passkey
 *    counts with two signatures: the operator's on the link, and that of the link's one-time key (signing/enrollment.ts).
 * K2 A revocation that cannot be verified still revokes the key, and is reported: a changed byte must not reactivate a key. It counts from
 *    the time that the database gave its row.
 * K4 A passkey whose row was written after its link had expired does not count, regardless of the time in its statement.
 * K5 Of an operator whose key counts until a time, neither a statement of a later time counts nor one whose row was written later: a
 *    thief of the key can date a statement back, but not its row.
 */
import { Envelope } from '../../policy/contracts/diff';
import type { IgnoredKeyRow, KeySnapshot, RegisteredKey } from '../../policy/evidence/key-registry';
import { verifyEnrolled, verifyLink } from '../../signing/enrollment';
import { keyProblem } from '../../signing/key-id';
import { signedBy } from '../../signing/signed-by';
import type { Queryable } from '../database/database';
import { KEY_ROWS_SQL, type KeyRow } from './key-envelopes';
import { revocationAmong } from './revocations';
import type { OperatorKey } from '../../signing/operator-key';

export interface KeyReaderDeps {
  readonly db: Queryable;
  /** If empty, no entry counts. */
  readonly trustedOperators: readonly OperatorKey[];
  /** Called once for each row that does not count. */
  readonly report?: (ignored: IgnoredKeyRow) => void;
}

type Active = RegisteredKey extends infer Key ? (Key extends unknown ? Omit<Key, 'revokedAt'> : never) : never;

/** The function that reads and verifies all rows. */
export function keyReader(deps: KeyReaderDeps): () => Promise<KeySnapshot> {
  const reported = new Set<string>();
  // Cache by envelope text, so that a row is not verified again with each read.
  const verified = new Map<string, Active | string>();

  function entryOf(row: KeyRow): Active | string {
    const { enrollment: link, enrolled_at: enrolledAt } = row;
    const signedAt = row.signed_at.toISOString();
    // Other JSON may be nested so deeply that JSON.stringify throws, and would stop every process.
    const envelope = Envelope.safeParse(row.envelope).data;
    const enrollment = link === null ? null : Envelope.safeParse(link).data;
    if (envelope === undefined || enrollment === undefined) return 'expected a signed envelope';
    const text = JSON.stringify([envelope, enrollment, enrolledAt, signedAt]);
    const known = verified.get(text);
    if (known !== undefined) return known;
    const result =
      enrollment === null ? registered(envelope, signedAt) : enrolled(enrollment, signedAt, envelope, enrolledAt);
    verified.set(text, result);
    return result;
  }

  function registered(envelope: unknown, signedAt: string): Active | string {
    const entry = signedBy('key', envelope, deps.trustedOperators, 'operator', signedAt);
    return entry.ok ? (keyProblem(entry.predicate) ?? entry.predicate) : entry.message;
  }

  function enrolled(
    enrollment: unknown,
    signedAt: string,
    envelope: unknown,
    enrolledAt: Date | null,
  ): Active | string {
    const link = verifyLink(enrollment, deps.trustedOperators, signedAt);
    if (typeof link === 'string') return link;
    const { expiresAt } = link.enrollment;
    if (enrolledAt === null || enrolledAt.getTime() > Date.parse(expiresAt))
      return `enrolled after its link had expired on ${expiresAt}`;
    return verifyEnrolled(link, envelope);
  }

  return async () => {
    const { rows } = await deps.db.query<KeyRow>(`${KEY_ROWS_SQL} order by key_id`, [], 'keys_all');
    const keys: RegisteredKey[] = [];
    const ignored: IgnoredKeyRow[] = [];
    for (const row of rows) {
      const entry = entryOf(row);
      if (typeof entry === 'string' || entry.keyId !== row.key_id) {
        ignored.push({
          keyId: row.key_id,
          problem: typeof entry === 'string' ? entry : 'the key id of the row differs from that of its signed entry',
        });
        continue;
      }
      const { problem = null, revokedAt = null } = revocationAmong(row.revocations, deps.trustedOperators) ?? {};
      if (problem !== null)
        ignored.push({
          keyId: row.key_id,
          problem: `its revocation cannot be verified but still counts: ${problem}`,
        });
      keys.push({ ...entry, revokedAt, ...(problem === null ? {} : { unsignedRevocation: true }) });
    }
    for (const row of ignored) {
      if (reported.has(`${row.keyId} ${row.problem}`)) continue;
      reported.add(`${row.keyId} ${row.problem}`);
      deps.report?.(row);
    }
    const byId = new Map(keys.map((key) => [key.keyId, key]));
    return { find: (keyId) => byId.get(keyId), keys, ignored };
  };
}
