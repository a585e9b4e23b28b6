import { concatBytes } from '@noble/hashes/utils.js';

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
