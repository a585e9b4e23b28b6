import { createHash } from 'node:crypto';
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { fromBase64Url, toBase64Url } from '../../policy/evidence/base64';
import type { PasskeyKey } from '../../policy/evidence/passkey-key';
import { ORIGIN, RP_ID, USER_PRESENT, USER_VERIFIED } from './passkey';

/** What a browser says when it makes a passkey. Each can be set to what an attacker would set it to. */
export interface NewPasskey {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly flags?: number;
  readonly format?: string;
  /** The attestation statement in CBOR, of the SHA-256 of clientDataJSON. Default: an empty map. */
  readonly statement?: (clientDataHash: Uint8Array) => Uint8Array;
  /** Replaces the COSE key, in hex. */
  readonly publicKey?: string;
  /** Replaces the credential id in the authenticator's data. */
  readonly credentialId?: string;
}

const ATTESTED_DATA = 0x40;

/** The response of `navigator.credentials.create` for this key: members of `POST /enroll/finish`. */
export function registrationOf(
  key: Pick<PasskeyKey, 'credentialId' | 'publicKey'>,
  challenge: string,
  {
    origin = ORIGIN,
    rpId = RP_ID,
    type = 'webauthn.create',
    flags = USER_PRESENT | USER_VERIFIED,
    ...more
  }: NewPasskey = {},
): { readonly credentialId: string; readonly attestationObject: string; readonly clientDataJSON: string } {
  const id = fromBase64Url(more.credentialId ?? key.credentialId) ?? new Uint8Array(0);
  const data = concatBytes(
    createHash('sha256').update(rpId).digest(),
    Uint8Array.of(flags | ATTESTED_DATA, 0, 0, 0, 0),
    new Uint8Array(16),
    Uint8Array.of(id.length >> 8, id.length & 0xff),
    id,
    hexToBytes(more.publicKey ?? key.publicKey),
  );
  const clientData = JSON.stringify({ type, challenge, origin, crossOrigin: false });
  // CBOR: {"fmt": format, "attStmt": statement, "authData": data}
  const attestation = concatBytes(
    Uint8Array.of(0xa3),
    text('fmt'),
    text(more.format ?? 'none'),
    text('attStmt'),
    more.statement?.(createHash('sha256').update(clientData).digest()) ?? Uint8Array.of(0xa0),
    text('authData'),
    Uint8Array.of(0x59, data.length >> 8, data.length & 0xff),
    data,
  );
  return {
    credentialId: key.credentialId,
    attestationObject: toBase64Url(attestation),
    clientDataJSON: toBase64Url(utf8ToBytes(clientData)),
  };
}

function text(value: string): Uint8Array {
  return concatBytes(Uint8Array.of(0x60 + value.length), utf8ToBytes(value));
}
