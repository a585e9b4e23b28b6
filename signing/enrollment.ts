/**
 * A person's passkey is registered by two statements: the operator's link grants a person rights, and the statement of the one-time key in
 * that link names the passkey.
 *
 * L1 Person, tenants, rights, relying party and origins come from the operator's statement, the public key from the other one.
 * L2 The second statement names the digest of the first. So it cannot be used with another link of the same one-time key.
 * L3 Neither is enough without the other: a database writer, or the gateway, cannot enrol anyone.
 */
import { sha256Hex, type Sha256 } from '../policy/contracts/hash';
import { openEnvelope } from '../policy/evidence/dsse';
import type { RegisteredPasskey } from '../policy/evidence/key-registry';
import { passkeyKeyId } from '../policy/evidence/passkey-key';
import type { Enrollment } from '../policy/evidence/predicates';
import { CLOCK_SKEW_MS } from './assess-answer';
import { keyProblem } from './key-id';
import { signedByOperator } from './signed-by';
import { passkeyKeyProblem } from './passkey';
import { verifyEnvelope } from './verify-envelope';
import type { OperatorKey } from './operator-key';

/** A link that a trusted operator signed. */
export interface VerifiedLink {
  readonly enrollment: Enrollment;
  /** What the statement of the passkey names it by. */
  readonly enrollmentSha: Sha256;
}

type EnrolledPasskey = Omit<RegisteredPasskey, 'revokedAt'>;

/** The link, or why it does not count; `storedAt` as for `signedBy`. Never throws on the contents of the envelope. */
export function verifyLink(
  envelope: unknown,
  operators: readonly OperatorKey[],
  storedAt: string | null = null,
): VerifiedLink | string {
  const enrollment = signedByOperator('enrollment', envelope, operators, storedAt);
  const opened = openEnvelope('enrollment', envelope);
  if (enrollment === null || !opened.ok) return 'no trusted operator signed the link';
  return keyProblem(enrollment) ?? { enrollment, enrollmentSha: sha256Hex(opened.signed) };
}

/** The passkey that was enrolled with this link, or why it does not count. Never throws on the contents of the envelope. */
export function verifyEnrolled(
  { enrollment, enrollmentSha }: VerifiedLink,
  envelope: unknown,
): EnrolledPasskey | string {
  const verified = verifyEnvelope(envelope, enrollment.publicKey, 'passkey-enrollment');
  if (!verified.ok) return verified.message;
  const { keyId, credentialId, publicKey, enrolledAt, ...named } = verified.predicate;
  const { subject, tenants, rights, rpId, origins, demo, issuedAt, expiresAt, operatorKeyId } = enrollment;
  if (named.enrollmentSha !== enrollmentSha) return 'the passkey was enrolled with another link';
  const passkey = { credentialId, publicKey, rpId, origins };
  if (passkeyKeyId(passkey) !== keyId) return 'the key id does not match the passkey';
  const problem = passkeyKeyProblem(publicKey);
  if (problem !== null) return problem;
  const at = Date.parse(enrolledAt);
  if (at > Date.parse(expiresAt) || at < Date.parse(issuedAt) - CLOCK_SKEW_MS)
    return `enrolled at ${enrolledAt}, but the link was valid from ${issuedAt} to ${expiresAt}`;
  return {
    keyId,
    passkey,
    enrollmentKeyId: enrollment.keyId,
    kind: 'approver',
    subject,
    onBehalfOf: null,
    tenants,
    rights,
    demo,
    addedAt: enrolledAt,
    operatorKeyId,
  };
}
