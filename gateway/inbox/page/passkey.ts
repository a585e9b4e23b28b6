/** WebAuthn in this browser. A passkey signs a challenge; user verification is always required. */
import { CountersignError } from '../../../client/errors';
import { COSE_ALGORITHMS } from '../../../policy/evidence/passkey-key';
import { ApiError } from './api-client';

/** What an authenticator returned. */
export interface Assertion {
  readonly credentialId: Uint8Array;
  readonly authenticatorData: Uint8Array;
  readonly clientDataJSON: Uint8Array;
  readonly signature: Uint8Array;
}

/** Signing failed or was cancelled; nothing was sent. */
export class PasskeyError extends Error {}

/** The text for a person if something with a passkey failed. Rethrows an error that is not expected. */
export function failureText(error: unknown): string {
  if (error instanceof ApiError || error instanceof PasskeyError || error instanceof CountersignError)
    return error.message;
  throw error;
}

const TIMEOUT_MS = 120_000;

/** Signs a challenge of 32 bytes. `credentialId`: null lets the person choose a passkey. */
export async function signChallenge(
  challenge: Uint8Array,
  rpId: string,
  credentialId: Uint8Array | null,
): Promise<Assertion> {
  const credential = await asked(
    navigator.credentials.get({
      publicKey: {
        challenge: copied(challenge),
        rpId,
        userVerification: 'required',
        timeout: TIMEOUT_MS,
        allowCredentials: credentialId === null ? [] : [{ type: 'public-key', id: copied(credentialId) }],
      },
    }),
  );
  const { response } = credential;
  if (!(response instanceof AuthenticatorAssertionResponse)) throw new PasskeyError('The passkey gave no signature');
  return {
    credentialId: new Uint8Array(credential.rawId),
    authenticatorData: new Uint8Array(response.authenticatorData),
    clientDataJSON: new Uint8Array(response.clientDataJSON),
    signature: new Uint8Array(response.signature),
  };
}

/** A new passkey. */
export interface Registration {
  readonly credentialId: Uint8Array;
  readonly attestationObject: Uint8Array;
  readonly clientDataJSON: Uint8Array;
  /** DER of its SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array;
}

export async function createPasskey(challenge: Uint8Array, rpId: string, person: string): Promise<Registration> {
  const credential = await asked(
    navigator.credentials.create({
      publicKey: {
        challenge: copied(challenge),
        rp: { id: rpId, name: 'Countersign' },
        user: { id: crypto.getRandomValues(new Uint8Array(32)), name: person, displayName: person },
        pubKeyCredParams: COSE_ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
        authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
        attestation: 'none',
        timeout: TIMEOUT_MS,
      },
    }),
  );
  const { response } = credential;
  if (!(response instanceof AuthenticatorAttestationResponse)) throw new PasskeyError('No passkey was made');
  const publicKey = response.getPublicKey();
  if (publicKey === null) throw new PasskeyError('This browser cannot read the kind of key that was made');
  return {
    credentialId: new Uint8Array(credential.rawId),
    attestationObject: new Uint8Array(response.attestationObject),
    clientDataJSON: new Uint8Array(response.clientDataJSON),
    publicKey: new Uint8Array(publicKey),
  };
}

async function asked(request: Promise<Credential | null>): Promise<PublicKeyCredential> {
  let credential: Credential | null;
  try {
    credential = await request;
  } catch (error) {
    // A DOMException names why: cancelled, timed out, no passkey, not allowed on this page.
    if (error instanceof DOMException)
      throw new PasskeyError(`The passkey was not used (${error.name}). Nothing was sent; try again`);
    throw error;
  }
  if (credential instanceof PublicKeyCredential) return credential;
  throw new PasskeyError('The passkey was not used. Nothing was sent; try again');
}

/** WebAuthn needs a buffer that contains nothing else. */
function copied(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes);
}
