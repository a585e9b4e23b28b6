import type { KeyLookup } from '../../policy/evidence/key-registry';
import { CLOCK_SKEW_MS } from '../judge-answer';
import type { Review } from './record';

/**
 * The registry with which a statement in a row of the time `at` is verified. For a commit it is the registry as it is: no revoked key
 * supports one. Otherwise a key that was revoked later still counts, because what it signed before explains why nothing was committed,
 * or is what people were shown. The time of a row is that of the worker that wrote it. The database refuses one that is more than ten
 * minutes from its clock, so someone who has a leaked key and the database role of a worker gains about eleven minutes after the revocation.
 */
export function keysAt(review: Review, at: string): KeyLookup {
  const keys = review.need('keys');
  if (review.end?.action === 'COMMIT') return keys;
  return (keyId) => {
    const key = keys(keyId);
    return key !== undefined && key.revokedAt !== null && Date.parse(key.revokedAt) + CLOCK_SKEW_MS > Date.parse(at)
      ? { ...key, revokedAt: null }
      : key;
  };
}
