/** `verify-signature.ts` for browsers: the same functions on @noble/curves, tested with the same vectors. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { ecdsaSignatureBytes, assertEs256Point } from './curve-points';
import { assertPublicKey } from './key-id';

const { Point } = ed25519;
const ORDER = Point.Fn.ORDER;

/** As RFC 8032 §5.1.7 without cofactor, as Node does it: R must be the canonical encoding of S·B − k·A. */
export function verifyEd25519(publicKey: string, message: Uint8Array, signature: Uint8Array): boolean {
  assertPublicKey(publicKey);
  if (signature.length !== 64) return false;
  const [r, s] = [signature.slice(0, 32), numberLE(signature.slice(32))];
  if (s >= ORDER) return false;
  const key = hexToBytes(publicKey);
  const k = numberLE(sha512(concatBytes(r, key, message))) % ORDER;
  const expected = Point.BASE.multiplyUnsafe(s).subtract(Point.fromBytes(key).multiplyUnsafe(k)).toBytes();
  return expected.every((byte, i) => byte === r[i]);
}

export function verifyEs256(point: Uint8Array, message: Uint8Array, der: Uint8Array): boolean {
  assertEs256Point(point);
  const signature = ecdsaSignatureBytes(der);
  if (signature === null) return false;
  return p256.verify(signature, message, concatBytes(Uint8Array.of(4), point), { lowS: false });
}

function numberLE(bytes: Uint8Array): bigint {
  return bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);
}
