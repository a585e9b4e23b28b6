import type { KeyLookup } from '../policy/evidence/key-registry';
import { CLOCK_SKEW_MS } from './assess-answer';

/**
 * The registry in which a key that was revoked after `at` (ISO 8601), or less than CLOCK_SKEW_MS before, is not revoked. For statements
 * that explain why nothing was committed, with the time of their row; never for what supports a commit. The time of a row is that of the
 * worker that wrote it. The database refuses one that is more than ten minutes from its clock, so someone who has a leaked key and the
 * database role of a worker gains about eleven minutes after the revocation.
 */
export function withoutLaterRevocations(keys: KeyLookup, at: string): KeyLookup {
  return (keyId) => {
    const key = keys(keyId);
    return key !== undefined && key.revokedAt !== null && Date.parse(key.revokedAt) + CLOCK_SKEW_MS > Date.parse(at)
      ? { ...key, revokedAt: null }
      : key;
  };
}
