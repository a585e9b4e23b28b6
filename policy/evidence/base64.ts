/**
 * Standard base64 with padding, strict: one text for each byte string, so that a signed envelope cannot be written in two ways.
 * Here and not `Buffer`, because this folder also runs in browsers and in Temporal's sandbox.
 */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map([...ALPHABET].map((letter, value) => [letter.charCodeAt(0), value]));
const PAD = '='.charCodeAt(0);

export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const word = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    text += ALPHABET.charAt(word >> 18) + ALPHABET.charAt((word >> 12) & 63);
    text += left > 1 ? ALPHABET.charAt((word >> 6) & 63) : '=';
    text += left > 2 ? ALPHABET.charAt(word & 63) : '=';
  }
  return text;
}

/** The bytes, or null where the text is not exactly what `toBase64` writes: other letters, missing padding, stray bits. */
export function fromBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0) return null;
  let padding = 0;
  while (padding < 2 && text.charCodeAt(text.length - 1 - padding) === PAD) padding++;
  const letters = text.length - padding;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  let word = 0;
  let bits = 0;
  let at = 0;
  for (let i = 0; i < letters; i++) {
    const value = VALUES.get(text.charCodeAt(i));
    if (value === undefined) return null;
    word = ((word << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = (word >> bits) & 0xff;
  }
  const stray = word & ((1 << bits) - 1);
  return stray === 0 ? bytes : null;
}
