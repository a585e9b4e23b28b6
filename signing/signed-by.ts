import { openEnvelope } from '../policy/evidence/dsse';
import type { PredicateOf, StatementKind } from '../policy/evidence/statement';
import { keyIdOf } from './key-id';
import { publicKeyOf, tooLate, type OperatorKey } from './operator-key';
import { verifyOpened } from './verify-envelope';

type SignedBy<K extends StatementKind> =
  { readonly ok: true; readonly predicate: PredicateOf<K> } | { readonly ok: false; readonly message: string };

/**
 * The predicate of an envelope that one of the trusted keys signed. `who`: whose keys they are. `storedAt`: when the database wrote its row
 * (ISO 8601); null if only the statement says when it was made. Never throws because of its content.
 */
export function signedBy<K extends StatementKind>(
  kind: K,
  envelope: unknown,
  trusted: readonly OperatorKey[],
  who: string,
  storedAt: string | null = null,
): SignedBy<K> {
  const opened = openEnvelope(kind, envelope);
  if (!opened.ok) return { ok: false, message: opened.message };
  const signer = trusted.find((key) => keyIdOf(publicKeyOf(key)) === opened.keyid);
  if (signer === undefined) return { ok: false, message: `key ${opened.keyid} is not a trusted ${who} key` };
  const verified = verifyOpened(opened, { keyId: opened.keyid, publicKey: publicKeyOf(signer) }, kind);
  if (!verified.ok) return verified;
  const late = tooLate(signer, kind, verified.predicate, storedAt);
  return late === null ? verified : { ok: false, message: `key ${opened.keyid} is a trusted ${who} key, but ${late}` };
}

/** As `signedBy`, without the reason why it does not count. */
export function signedByOperator<K extends StatementKind>(
  kind: K,
  envelope: unknown,
  operators: readonly OperatorKey[],
  storedAt: string | null = null,
): PredicateOf<K> | null {
  const signed = signedBy(kind, envelope, operators, 'operator', storedAt);
  return signed.ok ? signed.predicate : null;
}
