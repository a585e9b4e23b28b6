/** Enrolment of a passkey with the one-time key of a link. The private seed of the link never leaves this browser. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { fromBase64Url, toBase64Url } from '../../../policy/evidence/base64';
import { toEnvelope } from '../../../policy/evidence/dsse';
import { statementDigest } from '../../../policy/evidence/passkey-challenge';
import type { Enrollment } from '../../../policy/evidence/predicates';
import { cosePublicKeyOf, passkeyKeyId } from '../../../policy/evidence/passkey-key';
import { statementOf } from '../../../policy/evidence/statement';
import { keyIdOf } from '../../../signing/key-id';
import { signedByOperator } from '../../../signing/operator-verify';
import { api, serverNow } from './api-client';
import { createPasskey, PasskeyError } from './passkey';

const SEED_BYTES = 32;

export interface OpenedLink {
  readonly seed: Uint8Array;
  /** What the operator signed for this link. */
  readonly enrollment: Enrollment;
  /** Base64url. */
  readonly challenge: string;
}

/**
 * What the link offers, as an operator signed it. Throws PasskeyError for a malformed link or offer, ApiError for a link that is unknown,
 * spent or expired.
 */
export async function openLink(seedText: string): Promise<OpenedLink> {
  const seed = fromBase64Url(seedText);
  if (seed?.length !== SEED_BYTES) throw new PasskeyError('This enrolment link is incomplete. Ask for a new one');
  const keyId = keyIdOf(bytesToHex(ed25519.getPublicKey(seed)));
  const [{ offer, challenge }, { operators }] = await Promise.all([api.beginEnrollment(keyId), api.trust()]);
  const enrollment = signedByOperator('enrollment', offer, operators);
  if (enrollment?.keyId !== keyId)
    throw new PasskeyError('No trusted operator has signed this link. Do not enrol a passkey with it');
  return { seed, enrollment, challenge };
}

/** Makes a passkey and registers it for the person of the link. */
export async function enroll({ seed, enrollment, challenge: sent }: OpenedLink): Promise<string> {
  const { keyId: enrollmentKeyId, rpId, subject } = enrollment;
  const challenge = fromBase64Url(sent);
  if (challenge === null) throw new PasskeyError('The gateway sent no valid challenge. Open the link again');
  const made = await createPasskey(challenge, rpId, subject.id);
  const publicKey = cosePublicKeyOf(made.publicKey);
  if (publicKey === null)
    throw new PasskeyError('This passkey has an unknown kind of key. Use another device or security key');
  const credentialId = toBase64Url(made.credentialId);
  const statement = statementOf('passkey-enrollment', {
    enrollmentKeyId,
    enrollmentSha: statementDigest(statementOf('enrollment', enrollment)),
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
