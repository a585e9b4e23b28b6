import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { KeyId } from '../policy/evidence/predicates';
import { keyIdOf } from './key-id';

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
