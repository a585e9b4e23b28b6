import { openEnvelope } from '../policy/evidence/dsse';
import type { PredicateOf, StatementKind } from '../policy/evidence/statement';
import { keyIdOf } from './key-id';
import { verifyOpened } from './verify-envelope';

/** The predicate of an envelope of this kind if one of the trusted operator keys signed it, else null. */
export function signedByOperator<K extends StatementKind>(
  kind: K,
  envelope: unknown,
  operators: readonly string[],
): PredicateOf<K> | null {
  const opened = openEnvelope(kind, envelope);
  for (const publicKey of operators) {
    const verified = verifyOpened(opened, { keyId: keyIdOf(publicKey), publicKey }, kind);
    if (verified.ok) return verified.predicate;
  }
  return null;
}
