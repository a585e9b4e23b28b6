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

const PUBLIC_KEY_BYTES = 32;

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
  const publicKey = spki.subarray(-PUBLIC_KEY_BYTES).toString('hex'); // the last member of the DER
  return { keyId: keyIdOf(publicKey), publicKey, privateKey };
}
