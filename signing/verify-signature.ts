/**
 * The two signature schemes, on Node's own cryptography. A bundler for browsers replaces this file by `verify-signature.browser.ts`,
 * which accepts the same signatures.
 */
import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { hexToBytes } from '@noble/hashes/utils.js';
import { RecentValues } from '../policy/text/recent-values';
import { spkiOf, type PasskeyPoint } from '../policy/evidence/passkey-key';
import { ecdsaSignatureBytes, assertEs256Point } from './curve-points';
import { assertPublicKey } from './key-id';

/** By public key. */
const keyObjects = new RecentValues<KeyObject>({ entries: 1000, length: 64 * 1000 });

/** Whether the Ed25519 key signed the message (RFC 8032, without cofactor). Throws TypeError as `assertPublicKey`. */
export function verifyEd25519(publicKey: string, message: Uint8Array, signature: Uint8Array): boolean {
  return verify(null, message, ed25519Key(publicKey), signature);
}

/** Whether the P-256 key signed SHA-256 of the message; the signature is strict DER. Throws TypeError as `assertEs256Point`. */
export function verifyEs256(point: Uint8Array, message: Uint8Array, der: Uint8Array): boolean {
  assertEs256Point(point);
  const signature = ecdsaSignatureBytes(der);
  if (signature === null) return false;
  const key = keyObject({ algorithm: 'ES256', point });
  return verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, signature);
}

/** Memoized, since creating it takes a third of the time of a verification. */
function ed25519Key(publicKey: string): KeyObject {
  return keyObjects.getOrMake(publicKey, () => {
    assertPublicKey(publicKey);
    return keyObject({ algorithm: 'EdDSA', point: hexToBytes(publicKey) });
  });
}

function keyObject(point: PasskeyPoint): KeyObject {
  return createPublicKey({ key: Buffer.from(spkiOf(point)), format: 'der', type: 'spki' });
}
