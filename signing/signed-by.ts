import { openEnvelope } from '../policy/evidence/dsse';
import type { PredicateOf, StatementKind } from '../policy/evidence/statement';
import { keyIdOf } from './key-id';
import { verifyOpened } from './verify-envelope';

type SignedBy<K extends StatementKind> =
  { readonly ok: true; readonly predicate: PredicateOf<K> } | { readonly ok: false; readonly message: string };

/** The predicate of an envelope that one of the trusted public keys signed. `who`: whose keys they are. Never throws because of its content. */
export function signedBy<K extends StatementKind>(
  kind: K,
  envelope: unknown,
  trusted: readonly string[],
  who: string,
): SignedBy<K> {
  const opened = openEnvelope(kind, envelope);
  if (!opened.ok) return { ok: false, message: opened.message };
  const publicKey = trusted.find((key) => keyIdOf(key) === opened.keyid);
  if (publicKey === undefined) return { ok: false, message: `key ${opened.keyid} is not a trusted ${who} key` };
  return verifyOpened(opened, { keyId: opened.keyid, publicKey }, kind);
}

/** As `signedBy`, without the reason why it does not count. */
export function signedByOperator<K extends StatementKind>(
  kind: K,
  envelope: unknown,
  operators: readonly string[],
): PredicateOf<K> | null {
  const signed = signedBy(kind, envelope, operators, 'operator');
  return signed.ok ? signed.predicate : null;
}
