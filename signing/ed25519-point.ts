import { ed25519 } from '@noble/curves/ed25519.js';

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
