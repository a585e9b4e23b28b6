import { canonicalJsonOrNull } from '../../policy/contracts/canonical-json';
import { Envelope } from '../../policy/contracts/diff';
import { PAYLOAD_TYPE } from '../../policy/evidence/dsse';
import type { KeyRegistration } from '../../policy/evidence/bundle';
import { signedByOperator } from '../../signing/signed-by';
import { CheckFailed } from '../../signing/verify-review/checking';
import { registeredKey } from '../../signing/verify-review/registry-entries';
import type { Queryable } from '../database/database';
import { revocationAmong, type RevocationOfKey, type RevocationRow } from './revocations';
import type { OperatorKey } from '../../signing/operator-key';

/** The signed envelopes of a key. Not verified here. */
export interface KeyEnvelopes {
  readonly keyId: string;
  readonly registration: KeyRegistration;
}

export interface KeyEnvelopeReader {
  /** The keys with these ids. Unknown ids are omitted, and those whose row contains no envelope. */
  envelopesOf(keyIds: readonly string[]): Promise<readonly KeyEnvelopes[]>;
}

/** Registered keys and enrolled passkeys, each with the revocations of its id and of its link, oldest first. */
export const KEY_ROWS_SQL = `
  select known.*, (
    select coalesce(json_agg(json_build_object('keyId', r.key_id, 'envelope', r.envelope,
      'addedAt', to_char(r.added_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by r.added_at), '[]')
    from key_revocations r where r.key_id in (known.key_id, known.link)) as revocations
  from (
    select key_id, envelope, added_at as signed_at, null::json as enrollment, null::timestamptz as enrolled_at, null as link from keys
    union all
    select p.key_id, p.envelope, e.added_at, e.envelope, p.added_at, p.enrollment
    from passkeys p join enrollments e on e.key_id = p.enrollment
  ) as known`;

export interface KeyRow {
  readonly key_id: string;
  /** Any JSON: the database does not verify it. */
  readonly envelope: unknown;
  /** When the database got the operator's statement: the entry of the key, or the link. */
  readonly signed_at: Date;
  /** The operator's link; null for a key that an operator registered. */
  readonly enrollment: unknown;
  readonly enrolled_at: Date | null;
  readonly revocations: readonly RevocationRow[];
}

/**
 * Reads the signed entries for evidence, which a verifier checks with its own trusted operator keys. If a key has several revocations, it
 * takes the one signed by a trusted operator. One whose row was written after the operator's time is left out as unreadable: a verifier does
 * not see that time, and a revocation that is dated back would contradict evidence of the past. If a key and a passkey have the same id, it
 * takes the row that the registry counts: otherwise a role that can write only one of the tables could add a second row, and no evidence of
 * that key would verify.
 */
export function keyEnvelopes(db: Queryable, operators: readonly OperatorKey[]): KeyEnvelopeReader {
  return {
    async envelopesOf(keyIds) {
      const { rows } = await db.query<KeyRow>(`select * from (${KEY_ROWS_SQL}) as known where key_id = any($1)`, [
        keyIds,
      ]);
      const stored = rows.flatMap((row): KeyEnvelopes[] => {
        const [envelope, enrollment] = [envelopeIn(row.envelope), envelopeIn(row.enrollment)];
        if (envelope === null || (row.enrollment !== null && enrollment === null)) return [];
        const found = revocationAmong(row.revocations, operators);
        const revocation = found === null ? null : (exported(found, operators) ?? UNREADABLE);
        const registration =
          enrollment === null ? { entry: envelope, revocation } : { enrollment, passkey: envelope, revocation };
        return [{ keyId: row.key_id, registration }];
      });
      return [...new Set(stored.map(({ keyId }) => keyId))].flatMap((keyId) => {
        const [first, ...others] = stored.filter((row) => row.keyId === keyId);
        const counting =
          others.length === 0 ? undefined : stored.find((row) => row.keyId === keyId && counts(row, operators));
        return counting ?? first ?? [];
      });
    },
  };
}

/** Null for a revocation that evidence cannot contain. */
function exported({ envelope, problem }: RevocationOfKey, operators: readonly OperatorKey[]): Envelope | null {
  const isLate = problem !== null && signedByOperator('key-revocation', envelope, operators) !== null;
  return isLate ? null : envelopeIn(envelope);
}

/** Whether one of the operators registered the key under this id, or signed the link of the passkey. */
function counts({ keyId, registration }: KeyEnvelopes, operators: readonly OperatorKey[]): boolean {
  try {
    return registeredKey(registration, operators, null).keyId === keyId;
  } catch (error) {
    if (error instanceof CheckFailed) return false;
    throw error;
  }
}

/** In place of a revocation that evidence cannot contain. It has no valid signature either, and says that there is a revocation. */
const UNREADABLE: Envelope = { payloadType: PAYLOAD_TYPE, payload: '', signatures: [{ keyid: '0', sig: 'AAAA' }] };

/** Null for JSON that the file format cannot contain. */
function envelopeIn(value: unknown): Envelope | null {
  const envelope = Envelope.safeParse(value).data ?? null;
  return envelope !== null && canonicalJsonOrNull(envelope) !== null ? envelope : null;
}
