import { hexToBytes } from '@noble/hashes/utils.js';
import { typedHash } from '../policy/contracts/hash';
import type { KeyId } from '../policy/evidence/predicates';
import { publicKeyProblem } from './ed25519-point';

/** The id of an Ed25519 public key: a hash of it, so that no other key can have the same id. */
export function keyIdOf(publicKey: string): KeyId {
  return typedHash('key', { algorithm: 'ed25519', publicKey });
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
  const problem = /^[0-9a-f]{64}$/.test(publicKey)
    ? publicKeyProblem(hexToBytes(publicKey))
    : 'expected 64 lower-case hex digits';
  return problem === null ? null : `Public key ${publicKey.slice(0, 64)}: ${problem}`;
}
