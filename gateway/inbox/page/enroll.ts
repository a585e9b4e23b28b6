/** Enrolment of a passkey with the one-time key of a link. The private seed of the link never leaves this browser. */
import type { Envelope } from '../../../policy/contracts/diff';
import { fromBase64Url, toBase64Url } from '../../../policy/evidence/base64';
import type { Enrollment } from '../../../policy/evidence/predicates';
import { cosePublicKeyOf } from '../../../policy/evidence/passkey-key';
import { oneTimeKeyOf, signPasskeyEnrollment, type OneTimeKey } from '../../../signing/enrollment-link';
import { signedByOperator } from '../../../signing/signed-by';
import { api, serverNow } from './api-client';
import { createPasskey, PasskeyError } from './passkey';

export interface OpenedLink {
  readonly key: OneTimeKey;
  /** What the operator signed for this link. */
  readonly enrollment: Enrollment;
  readonly offer: Envelope;
  /** Base64url. */
  readonly challenge: string;
}

/**
 * What the link offers, as an operator signed it. Throws PasskeyError for a malformed link or offer, ApiError for a link that is unknown,
 * spent or expired. `fragment`: that of the address of the link.
 */
export async function openLink(fragment: string): Promise<OpenedLink> {
  const key = oneTimeKeyOf(fragment);
  if (key === null) throw new PasskeyError('This enrolment link is incomplete. Ask for a new one');
  const [{ offer, challenge }, { operators }] = await Promise.all([api.beginEnrollment(key.keyId), api.trust()]);
  const enrollment = signedByOperator('enrollment', offer, operators);
  if (enrollment?.keyId !== key.keyId)
    throw new PasskeyError('No trusted operator has signed this link. Do not enrol a passkey with it');
  return { key, enrollment, offer, challenge };
}

/** Makes a passkey and registers it for the person of the link. */
export async function enroll({ key, enrollment, offer, challenge: sent }: OpenedLink): Promise<string> {
  const challenge = fromBase64Url(sent);
  if (challenge === null) throw new PasskeyError('The gateway sent no valid challenge. Open the link again');
  const made = await createPasskey(challenge, enrollment.rpId, enrollment.subject.id);
  const publicKey = cosePublicKeyOf(made.publicKey);
  if (publicKey === null)
    throw new PasskeyError('This passkey has an unknown kind of key. Use another device or security key');
  const credentialId = toBase64Url(made.credentialId);
  const enrolledAt = new Date(serverNow()).toISOString();
  const finished = await api.finishEnrollment({
    envelope: signPasskeyEnrollment(key, offer, { credentialId, publicKey, enrolledAt }),
    credentialId,
    attestationObject: toBase64Url(made.attestationObject),
    clientDataJSON: toBase64Url(made.clientDataJSON),
  });
  return finished.person;
}
