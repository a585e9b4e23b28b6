import { p256 } from '@noble/curves/nist.js';
import { concatBytes } from '@noble/hashes/utils.js';

/** Throws TypeError unless the 64 bytes are x and y of a point on P-256. Its group has prime order, so no point has small order. */
export function assertEs256Point(point: Uint8Array): void {
  try {
    p256.Point.fromBytes(concatBytes(Uint8Array.of(4), point)).assertValidity();
  } catch {
    // noble throws for a wrong length, a coordinate outside the field, and a point that is not on the curve.
    throw new TypeError('P-256 public key: not a point on the curve');
  }
}
