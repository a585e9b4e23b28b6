import type { PredicateOf, StatementKind } from '../../policy/evidence/statement';
import { signedBy } from '../signed-by';
import { fail } from './outcome';

/** As `signedBy`; fails the check if no trusted key signed the envelope. */
export function signedByOne<K extends StatementKind>(
  kind: K,
  envelope: unknown,
  trusted: readonly string[],
  who: string,
): PredicateOf<K> {
  const signed = signedBy(kind, envelope, trusted, who);
  return signed.ok ? signed.predicate : fail(`${kind}: ${signed.message}`);
}
