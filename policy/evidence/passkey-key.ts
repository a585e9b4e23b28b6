/**
 * Public keys of passkeys, as an operator's registry knows them.
 *
 * Of COSE (RFC 9052) only the two encodings are accepted that CTAP2 prescribes for ES256 on P-256 and EdDSA on Ed25519, byte for byte.
 * So a key has one encoding and one key id, and no CBOR is parsed.
 */
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { typedHash, type Sha256 } from '../contracts/hash';
import { fromBase64Url } from './base64';

export type PasskeyAlgorithm = 'ES256' | 'EdDSA';

export type PasskeyPoint =
  | { readonly algorithm: 'ES256'; /** x and y, 32 bytes each. */ readonly point: Uint8Array }
  | { readonly algorithm: 'EdDSA'; /** 32 bytes, as in RFC 8032. */ readonly point: Uint8Array };

/** {1: 2 (EC2), 3: -7, -1: 1 (P-256), -2: x, -3: y} and {1: 1 (OKP), 3: -8, -1: 6 (Ed25519), -2: x}, in the order of CTAP2. */
const ES256 = { head: 'a5010203262001215820', middle: '225820' } as const;
const EDDSA = { head: 'a4010103272006215820' } as const;
const COSE_ES256 = new RegExp(`^${ES256.head}([0-9a-f]{64})${ES256.middle}([0-9a-f]{64})$`);
const COSE_EDDSA = new RegExp(`^${EDDSA.head}([0-9a-f]{64})$`);
/** COSE numbers of ES256 and EdDSA, the algorithms that a new passkey may have. */
export const COSE_ALGORITHMS = [-7, -8];

/** DER of a SubjectPublicKeyInfo up to the key, as `getPublicKey()` of a browser returns it. */
const SPKI_ES256 = '3059301306072a8648ce3d020106082a8648ce3d03010703420004';
const SPKI_EDDSA = '302a300506032b6570032100';

/** The point of a COSE key in lower-case hex, or null for any other key or encoding. Does not check that it is on the curve. */
export function passkeyPoint(cose: string): PasskeyPoint | null {
  const [, x, y] = COSE_ES256.exec(cose) ?? [];
  if (x !== undefined) return { algorithm: 'ES256', point: hexToBytes(`${x}${y}`) };
  const [, only] = COSE_EDDSA.exec(cose) ?? [];
  return only === undefined ? null : { algorithm: 'EdDSA', point: hexToBytes(only) };
}

/** The COSE key in lower-case hex of what `AuthenticatorAttestationResponse.getPublicKey()` returns; null for a key that is not accepted. */
export function cosePublicKeyOf(spki: Uint8Array): string | null {
  const hex = bytesToHex(spki);
  if (hex.startsWith(SPKI_ES256) && hex.length === SPKI_ES256.length + 128) {
    const xy = hex.slice(SPKI_ES256.length);
    return `${ES256.head}${xy.slice(0, 64)}${ES256.middle}${xy.slice(64)}`;
  }
  return hex.startsWith(SPKI_EDDSA) && hex.length === SPKI_EDDSA.length + 64
    ? `${EDDSA.head}${hex.slice(SPKI_EDDSA.length)}`
    : null;
}

/** The DER of the SubjectPublicKeyInfo of a key. */
export function spkiOf({ algorithm, point }: PasskeyPoint): Uint8Array {
  return concatBytes(hexToBytes(algorithm === 'ES256' ? SPKI_ES256 : SPKI_EDDSA), point);
}

/** A COSE key in lower-case hex. */
export const PasskeyPublicKey = z
  .string()
  .max(200)
  .refine((cose) => passkeyPoint(cose) !== null, 'expected the COSE key of ES256 or EdDSA in lower-case hex');

/** Base64url without padding, as WebAuthn writes it. At most 1023 bytes. */
export const CredentialId = z
  .string()
  .min(1)
  .max(1364)
  .refine((id) => fromBase64Url(id) !== null, 'expected base64url without padding');

/** The relying party: a host name in lower case. */
export const RpId = z
  .string()
  .max(253)
  .regex(/^(?=.*[a-z])[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/, 'expected a host name');

/** Compared exactly. Browsers offer passkeys over http on localhost only. */
const WebOrigin = z
  .string()
  .max(300)
  .regex(
    /^(https:\/\/[a-z0-9.-]+|http:\/\/localhost)(:[1-9][0-9]{0,4})?$/,
    'expected an origin such as https://countersign.example, or http://localhost with a port',
  );
export const WebOrigins = z
  .array(WebOrigin)
  .min(1)
  .max(5)
  .refine((list) => new Set(list).size === list.length, 'expected each origin once');

/** Whether a page of this origin can use passkeys of the relying party. */
export function isOriginOf(rpId: string, origin: string): boolean {
  const host = /^https?:\/\/([^:/]+)/.exec(origin)?.[1] ?? '';
  return host === rpId || host.endsWith(`.${rpId}`);
}

/** What verifies signatures of one passkey. */
export interface PasskeyKey {
  readonly credentialId: string;
  /** COSE key, lower-case hex. */
  readonly publicKey: string;
  readonly rpId: string;
  readonly origins: readonly string[];
}

/** The id of a passkey: a hash of its public key with the algorithm, of relying party and credential id. */
export function passkeyKeyId({ credentialId, publicKey, rpId }: Omit<PasskeyKey, 'origins'>): Sha256 {
  return typedHash('key', { algorithm: 'webauthn', credentialId, publicKey, rpId });
}
