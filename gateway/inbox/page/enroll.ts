/** Enrolment of a passkey with the one-time key of a link. The private seed of the link never leaves this browser. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { fromBase64Url, toBase64Url } from '../../../policy/evidence/base64';
import { toEnvelope } from '../../../policy/evidence/dsse';
import { cosePublicKeyOf, passkeyKeyId } from '../../../policy/evidence/passkey-key';
import { statementOf } from '../../../policy/evidence/statement';
import { keyIdOf } from '../../../signing/key-id';
import type { EnrollmentOffer } from '../api';
import { api, serverNow } from './api-client';
import { createPasskey, PasskeyError } from './passkey';

const SEED_BYTES = 32;

export interface OpenedLink {
  readonly seed: Uint8Array;
  readonly keyId: string;
  readonly offer: EnrollmentOffer;
}

/** What the link offers. Throws PasskeyError for a malformed link, ApiError for one that is unknown, spent or expired. */
export async function openLink(seedText: string): Promise<OpenedLink> {
  const seed = fromBase64Url(seedText);
  if (seed?.length !== SEED_BYTES) throw new PasskeyError('This enrolment link is incomplete. Ask for a new one');
  const keyId = keyIdOf(bytesToHex(ed25519.getPublicKey(seed)));
  return { seed, keyId, offer: await api.beginEnrollment(keyId) };
}

/** Makes a passkey and registers it for the person of the link. */
export async function enroll({ seed, keyId: enrollmentKeyId, offer }: OpenedLink): Promise<string> {
  const { person, rpId, enrollmentSha } = offer;
  const challenge = fromBase64Url(offer.challenge);
  if (challenge === null) throw new PasskeyError('The gateway sent no valid challenge. Open the link again');
  const made = await createPasskey(challenge, rpId, person);
  const publicKey = cosePublicKeyOf(made.publicKey);
  if (publicKey === null)
    throw new PasskeyError('This passkey has an unknown kind of key. Use another device or security key');
  const credentialId = toBase64Url(made.credentialId);
  const statement = statementOf('passkey-enrollment', {
    enrollmentKeyId,
    enrollmentSha,
    keyId: passkeyKeyId({ credentialId, publicKey, rpId }),
    credentialId,
    publicKey,
    enrolledAt: new Date(serverNow()).toISOString(),
  });
  const envelope = toEnvelope(statement, enrollmentKeyId, (bytes) => ed25519.sign(bytes, seed));
  const { attestationObject, clientDataJSON } = made;
  const finished = await api.finishEnrollment({
    envelope,
    credentialId,
    attestationObject: toBase64Url(attestationObject),
    clientDataJSON: toBase64Url(clientDataJSON),
  });
  return finished.person;
}
