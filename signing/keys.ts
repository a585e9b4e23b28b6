import { createPublicKey, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import { typedHash } from '../policy/contracts/hash';
import type { KeyId } from '../policy/evidence/predicates';
import { publicKeyProblem } from './ed25519-point';

/** A key that can sign. */
export interface SigningKey {
  readonly keyId: KeyId;
  /** The 32 raw bytes, lower-case hex: as in the registry. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

export function newKeyPair(): SigningKey {
  return signingKey(generateKeyPairSync('ed25519').privateKey);
}

/** Throws TypeError unless it is an Ed25519 private key. */
export function signingKey(privateKey: KeyObject): SigningKey {
  if (privateKey.type !== 'private' || privateKey.asymmetricKeyType !== 'ed25519') {
    throw new TypeError(
      `Signing key: expected an Ed25519 private key, got ${privateKey.asymmetricKeyType ?? privateKey.type}`,
    );
  }
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const publicKey = spki.subarray(SPKI_PREFIX.length).toString('hex');
  return { keyId: keyIdOf(publicKey), publicKey, privateKey };
}

/** The id of a public key: a hash of it, so that no other key can have the same id. */
export function keyIdOf(publicKey: string): KeyId {
  return typedHash('key', { algorithm: 'ed25519', publicKey });
}

/** Throws TypeError if the text is not a public key that may be registered: not hex, not on the curve, of small order. */
export function assertPublicKey(publicKey: string): void {
  const problem = /^[0-9a-f]{64}$/.test(publicKey)
    ? publicKeyProblem(Buffer.from(publicKey, 'hex'))
    : 'expected 64 lower-case hex digits';
  if (problem !== null) throw new TypeError(`Public key ${publicKey.slice(0, 64)}: ${problem}`);
}

const MAX_CACHED = 1000;
const cached = new Map<string, KeyObject>();

/** Node's form of a public key. Cached, since creating it takes a third of the time of a verification. Throws like `assertPublicKey`. */
export function toPublicKeyObject(publicKey: string): KeyObject {
  const known = cached.get(publicKey);
  if (known !== undefined) return known;
  assertPublicKey(publicKey);
  const key = createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, Buffer.from(publicKey, 'hex')]),
    format: 'der',
    type: 'spki',
  });
  if (cached.size >= MAX_CACHED) cached.clear();
  cached.set(publicKey, key);
  return key;
}

/** 32 hex digits from the system's random source, for one answer or submission. */
export function newNonce(): string {
  return randomBytes(16).toString('hex');
}
