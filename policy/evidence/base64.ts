import { base64, base64urlnopad } from '@scure/base';

/** Node's implementation takes a tenth of the time. Browsers and the sandbox of workflows do not have it, and use the other one. */
const buffer: typeof Buffer | null = typeof Buffer === 'function' ? Buffer : null;

/** Standard base64 with padding, strict: one text for each byte string, so that a signed envelope cannot be written in two ways. */
export function toBase64(bytes: Uint8Array): string {
  if (buffer === null) return base64.encode(bytes);
  return buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** The bytes, or null if the text is not exactly what `toBase64` writes: other letters, missing padding, stray bits. */
export function fromBase64(text: string): Uint8Array | null {
  if (buffer !== null) {
    // Not strict: it skips what is not base64.
    const bytes = buffer.from(text, 'base64');
    return bytes.toString('base64') === text ? new Uint8Array(bytes) : null;
  }
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
