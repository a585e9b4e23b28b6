import { p256 } from '@noble/curves/nist.js';
import { concatBytes } from '@noble/hashes/utils.js';

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
