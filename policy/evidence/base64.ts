import { base64, base64urlnopad } from '@scure/base';

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

/** Base64url without padding, as WebAuthn writes bytes in JSON. */
export function toBase64Url(bytes: Uint8Array): string {
  return base64urlnopad.encode(bytes);
}

/** The bytes, or null if the text is not exactly what `toBase64Url` writes. */
export function fromBase64Url(text: string): Uint8Array | null {
  try {
    return base64urlnopad.decode(text);
  } catch {
    return null;
  }
}
