import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { concatBytes } from '@noble/hashes/utils.js';

/**
 * Null if the 32 bytes are an Ed25519 public key that may be registered; otherwise the problem.
 *
 * node:crypto accepts any 32 bytes. With a key of small order, one signature is valid for almost every message, so its owner
 * would have "signed" everything. Decodes as in RFC 8032 §5.1.3, which is stricter than ZIP 215.
 */
export function publicKeyProblem(bytes: Uint8Array): string | null {
  if (bytes.length !== 32) return `expected 32 bytes, got ${bytes.length}`;
  try {
    const point = ed25519.Point.fromBytes(bytes, false);
    return point.isSmallOrder() ? 'a point of small order: signatures that the key never made would be valid' : null;
  } catch {
    return 'not the canonical encoding of a point on the curve';
  }
}

/** Null if the 64 bytes are x and y of a point on P-256; otherwise the problem. Its group has prime order, so no point has small order. */
export function es256PointProblem(point: Uint8Array): string | null {
  try {
    p256.Point.fromBytes(concatBytes(Uint8Array.of(4), point)).assertValidity();
    return null;
  } catch {
    // noble throws for a wrong length, a coordinate outside the field, and a point that is not on the curve.
    return 'P-256 public key: not a point on the curve';
  }
}

/** Throws TypeError for bytes with an `es256PointProblem`. */
export function assertEs256Point(point: Uint8Array): void {
  const problem = es256PointProblem(point);
  if (problem !== null) throw new TypeError(problem);
}

/**
 * r and s of a P-256 signature, 32 bytes each; null unless the bytes are the one DER encoding of two positive integers. Parsers differ in
 * what else they accept, so they get this form.
 */
export function ecdsaSignatureBytes(der: Uint8Array): Uint8Array | null {
  if (der.length < 8 || der.length > 72 || der[0] !== 0x30 || der[1] !== der.length - 2) return null;
  const r = integerAt(der, 2);
  const s = r === null ? null : integerAt(der, r.end);
  return r === null || s === null || s.end !== der.length ? null : concatBytes(r.bytes, s.bytes);
}

/** The DER INTEGER at `start`: positive, in the fewest bytes, of at most 32 bytes without sign. */
function integerAt(der: Uint8Array, start: number): { readonly bytes: Uint8Array; readonly end: number } | null {
  const [tag = 0, length = 0, first = 0x80, second = 0] = der.subarray(start, start + 4);
  const end = start + 2 + length;
  if (tag !== 0x02 || length === 0 || end > der.length || (first & 0x80) !== 0) return null;
  if (first === 0 && (length === 1 || (second & 0x80) === 0)) return null;
  const digits = der.subarray(first === 0 ? start + 3 : start + 2, end);
  if (digits.length > 32) return null;
  const bytes = new Uint8Array(32);
  bytes.set(digits, 32 - digits.length);
  return { bytes, end };
}
