/** What the verification of signatures needs of `node:crypto`, on @noble/curves. The bundler replaces that module by this one. */
import { ed25519 } from '@noble/curves/ed25519.js';

interface PublicKey {
  readonly raw: Uint8Array;
}

const RAW_BYTES = 32;

export function createPublicKey({ key }: { readonly key: Uint8Array }): PublicKey {
  return { raw: key.subarray(key.length - RAW_BYTES) };
}

export function verify(_algorithm: null, bytes: Uint8Array, { raw }: PublicKey, signature: Uint8Array): boolean {
  // Not ZIP-215: a signature that Node refuses must be refused here.
  return signature.length === 2 * RAW_BYTES && ed25519.verify(signature, bytes, raw, { zip215: false });
}

export function randomBytes(size: number): { toString: (encoding: 'hex') => string } {
  const bytes = crypto.getRandomValues(new Uint8Array(size));
  return { toString: () => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('') };
}

export function sign(): never {
  throw new Error('The page signs with a passkey');
}

export function generateKeyPairSync(): never {
  throw new Error('The page makes no key files');
}

// `signing/keys.ts` makes a prefix with it when it is loaded.
Object.assign(globalThis, {
  Buffer: {
    from: (text: string) => Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16)),
    concat: (parts: readonly Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part])),
  },
});
