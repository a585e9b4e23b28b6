import { openEnvelope } from '../../policy/evidence/dsse';
import type { PredicateOf, StatementKind } from '../../policy/evidence/statement';
import { verifyEnvelope } from '../verify-envelope';
import { keyIdOf } from '../key-id';
import { fail } from './outcome';

/** The predicate of an envelope that one of the trusted public keys signed; fails the check if none of them did. */
export function signedByOne<K extends StatementKind>(
  kind: K,
  envelope: unknown,
  trusted: readonly string[],
  who: string,
): PredicateOf<K> {
  const opened = openEnvelope(kind, envelope);
  if (!opened.ok) fail(`${kind}: ${opened.message}`);
  const publicKey = trusted.find((key) => keyIdOf(key) === opened.keyid);
  if (publicKey === undefined) fail(`${kind}: key ${opened.keyid} is not a trusted ${who}`);
  const verified = verifyEnvelope(envelope, publicKey, kind);
  if (!verified.ok) fail(`${kind}: ${verified.message}`);
  return verified.predicate;
}
