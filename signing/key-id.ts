import { hexToBytes } from '@noble/hashes/utils.js';
import { typedHash } from '../policy/contracts/hash';
import type { KeyId } from '../policy/evidence/predicates';
import { RecentValues } from '../policy/text/recent-values';
import { publicKeyProblem } from './curve-points';

/** For 1000 public keys, since decoding a point takes as long as verifying a signature. */
const MEMOIZED = { entries: 1000, length: 64 * 1000 };
const ids = new RecentValues<KeyId>(MEMOIZED);
/** Public keys that may be registered. */
const valid = new RecentValues<true>(MEMOIZED);

/** The id of an Ed25519 public key: a hash of it, so that no other key can have the same id. */
export function keyIdOf(publicKey: string): KeyId {
  return ids.getOrMake(publicKey, () => typedHash('key', { algorithm: 'ed25519', publicKey }));
}

/** Throws TypeError if the text is not a public key that may be registered: not hex, not on the curve, of small order. */
export function assertPublicKey(publicKey: string): void {
  const problem = problemOf(publicKey);
  if (problem !== null) throw new TypeError(problem);
}

/** Why this Ed25519 key may not be registered under this id; null if it may. */
export function keyProblem({
  keyId,
  publicKey,
}: {
  readonly keyId: string;
  readonly publicKey: string;
}): string | null {
  return keyIdOf(publicKey) === keyId ? problemOf(publicKey) : 'the key id does not match the public key';
}

function problemOf(publicKey: string): string | null {
  if (valid.get(publicKey) === true) return null;
  const problem = /^[0-9a-f]{64}$/.test(publicKey)
    ? publicKeyProblem(hexToBytes(publicKey))
    : 'expected 64 lower-case hex digits';
  if (problem === null) valid.set(publicKey, true);
  return problem === null ? null : `Public key ${publicKey.slice(0, 64)}: ${problem}`;
}
