import type { KeyLookup } from '../../policy/evidence/key-registry';
import { withoutLaterRevocations } from '../revoked-later';
import type { Review } from './record';

/**
 * The registry with which a statement in a row of the time `at` is verified. For a commit it is the registry as it is: no revoked key
 * supports one. Otherwise a key that was revoked later still counts, because what it signed before explains why nothing was committed,
 * or is what people were shown.
 */
export function keysAt(review: Review, at: string): KeyLookup {
  const keys = review.need('keys');
  return review.end?.action === 'COMMIT' ? keys : withoutLaterRevocations(keys, at);
}
