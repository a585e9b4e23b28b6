import { verifyRegistrationResponse } from '@simplewebauthn/server';
import { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import { bytesToHex } from '@noble/hashes/utils.js';
import { Hono } from 'hono';
import { z } from 'zod';
import { CountersignError } from '../../client/errors';
import { Envelope } from '../../policy/contracts/diff';
import { toBase64Url } from '../../policy/evidence/base64';
import { COSE_ALGORITHMS, CredentialId } from '../../policy/evidence/passkey-key';
import { KeyId } from '../../policy/evidence/predicates';
import type { EnrollmentOffer } from './api';
import type { OpenLink } from '../../storage/keys/enrollments';
import type { InboxDeps } from './deps';
import { Base64Url, newChallenge, takeChallenge, type LoginDeps } from './login';
import { requestBody } from './request-body';

const Begin = z.strictObject({ keyId: KeyId });
const Finish = z.strictObject({
  envelope: Envelope,
  credentialId: CredentialId,
  attestationObject: Base64Url,
  clientDataJSON: Base64Url,
});

/**
 * Enrolment by a one-time link. The gateway checks that the browser made the passkey now, for this origin, with the person verified. Who
 * may enrol is decided by two signatures that it cannot make: the operator's, and that of the one-time key in the link.
 */
export function enrollRoutes(
  deps: Pick<InboxDeps, 'enrollments' | 'challenges' | 'origin'> & Pick<LoginDeps, 'challengeRate' | 'now' | 'metrics'>,
): Hono {
  const { enrollments, origin, metrics } = deps;
  const routes = new Hono();
  const openLink = async (keyId: string): Promise<OpenLink> => {
    const open = await enrollments.enrollmentOf(keyId);
    if (open === null)
      throw new CountersignError(
        'not_found',
        'This link is unknown, was used, or has expired; ask your operator for a new one',
      );
    const { origins } = open.enrollment;
    if (origins.includes(origin)) return open;
    throw new CountersignError('refused', `This link is for ${origins.join(', ')}; open it there`);
  };
  routes.post('/enroll/begin', async (c) => {
    const { keyId } = await requestBody(c, Begin);
    const { offer } = await openLink(keyId);
    const challenge = await newChallenge(deps, c, { purpose: 'enroll', subject: keyId });
    return c.json({ offer, challenge } satisfies EnrollmentOffer);
  });
  routes.post('/enroll/finish', async (c) => {
    const { envelope, ...made } = await requestBody(c, Finish);
    const late = 'The enrolment took longer than two minutes, or was used before: open the link again';
    const asked = await takeChallenge(deps, c, 'enroll', late);
    const { enrollment } = await openLink(asked.subject);
    const publicKey = await registeredKey(made, { challenge: asked.challenge, origin, rpId: enrollment.rpId });
    if (publicKey === null)
      throw metrics.refusal(
        'login',
        'unauthenticated',
        'The passkey was not accepted: expected a new one of this page that verifies the person',
      );
    const { credentialId } = made;
    const enrolled = await enrollments.completeEnrollment(asked.subject, envelope, { credentialId, publicKey });
    if (enrolled.ok) return c.json({ person: enrolled.person });
    throw new CountersignError(enrolled.code === 'not_open' ? 'not_found' : 'refused', enrolled.message);
  });
  return routes;
}

/** The COSE key in lower-case hex of a passkey that was made for this challenge; null if the response does not say so. */
async function registeredKey(
  made: { readonly credentialId: string; readonly attestationObject: Uint8Array; readonly clientDataJSON: Uint8Array },
  expected: { readonly challenge: string; readonly origin: string; readonly rpId: string },
): Promise<string | null> {
  try {
    // No attestation is requested, so none is trusted. The library would fetch the URLs that are in its certificates.
    if (decodeAttestationObject(made.attestationObject.slice()).get('fmt') !== 'none') return null;
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: made.credentialId,
        rawId: made.credentialId,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          attestationObject: toBase64Url(made.attestationObject),
          clientDataJSON: toBase64Url(made.clientDataJSON),
        },
      },
      expectedChallenge: expected.challenge,
      expectedOrigin: expected.origin,
      expectedRPID: expected.rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: COSE_ALGORITHMS,
    });
    return registrationInfo?.credential.id === made.credentialId
      ? bytesToHex(registrationInfo.credential.publicKey)
      : null;
  } catch (error) {
    // The library throws an Error for each part of the response that is malformed or of another registration.
    if (error instanceof Error) return null;
    throw error;
  }
}
