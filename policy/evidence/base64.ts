import { base64 } from '@scure/base';

/**
 * Standard base64 with padding, strict: one text for each byte string, so that a signed envelope cannot be written in two ways.
 * Not `Buffer`, because this folder also runs in browsers and in Temporal's sandbox.
 */
export function toBase64(bytes: Uint8Array): string {
  return base64.encode(bytes);
}

/** The bytes, or null if the text is not exactly what `toBase64` writes: other letters, missing padding, stray bits. */
export function fromBase64(text: string): Uint8Array | null {
  try {
    return base64.decode(text);
  } catch {
    return null;
  }
}
