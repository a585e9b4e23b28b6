import type { KeyLookup } from '../../policy/evidence/key-registry';
import { CLOCK_SKEW_MS } from '../judge-answer';
import type { Review } from './record';

/**
 * The registry with which a statement in a row of the time `at` is verified. For a commit it is the registry as it is: no revoked key
 * supports one. Otherwise a key that was revoked later still counts, because what it signed before explains why nothing was committed,
 * or is what people were shown. A key that leaked gains no statement after its revocation: the database refuses rows whose time is far
 * from its clock.
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
