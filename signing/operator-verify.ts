import type { PredicateOf, StatementKind } from '../policy/evidence/statement';
import { verifyEnvelope } from './verify-envelope';

/** The predicate of an envelope of this kind if one of the trusted operator keys signed it, else null. */
export function signedByOperator<K extends StatementKind>(
  kind: K,
  envelope: unknown,
  operators: readonly string[],
): PredicateOf<K> | null {
  for (const publicKey of operators) {
    const verified = verifyEnvelope(envelope, publicKey, kind);
    if (verified.ok) return verified.predicate;
  }
  return null;
}
