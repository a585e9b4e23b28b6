import { ed25519 } from '@noble/curves/ed25519.js';

/**
 * Null if 32 bytes are an Ed25519 public key that may be registered; otherwise what is wrong with them.
 *
 * node:crypto takes any 32 bytes. A key of small order verifies one signature for almost every message, so that a person with
 * such a key "signed" everything. Decoding is that of RFC 8032 §5.1.3, not the laxer one of ZIP 215.
 */
export function publicKeyProblem(bytes: Uint8Array): string | null {
  if (bytes.length !== 32) return `expected 32 bytes, got ${bytes.length}`;
  try {
    const point = ed25519.Point.fromBytes(bytes, false);
    return point.isSmallOrder() ? 'a point of small order: it would verify signatures that the key never made' : null;
  } catch {
    return 'not the canonical encoding of a point of the curve';
  }
}
