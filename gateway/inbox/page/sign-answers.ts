import { fromBase64Url } from '../../../policy/evidence/base64';
import { passkeyChallenge, statementDigest } from '../../../policy/evidence/passkey-challenge';
import { passkeyEnvelopes } from '../../../policy/evidence/passkey-envelopes';
import type { Envelope } from '../../../policy/contracts/diff';
import { answerStatements } from '../../../client/answer-statements';
import type { VerifiedReview } from '../../../signing/verified-review';
import type { InboxSession } from '../api';
import { serverNow } from './api-client';
import type { Chosen } from './model/choices';
import { PasskeyError, signChallenge } from './passkey';

const VALID_MS = 10 * 60_000;

/** One statement for each answer, and one passkey signature over all of them. Throws PasskeyError if the passkey was not used. */
export async function signWithPasskey(
  review: VerifiedReview,
  answers: readonly Chosen[],
  { keyId, credentialId, rpId }: InboxSession,
): Promise<readonly Envelope[]> {
  const issuedAt = new Date(serverNow());
  const validity = { issuedAt, expiresAt: new Date(issuedAt.getTime() + VALID_MS) };
  const statements = answers.flatMap(({ violationId, decision, reason, coverage, retracts }) =>
    answerStatements(
      review.changeId,
      review,
      {
        violationIds: [violationId],
        decision,
        reason: reason.trim(),
        coverage: new Map([[violationId, coverage]]),
        ...(retracts === null ? {} : { retracts: new Map([[violationId, retracts]]) }),
      },
      keyId,
      validity,
    ),
  );
  const id = fromBase64Url(credentialId);
  if (id === null) throw new PasskeyError('The gateway named a passkey that is not valid');
  const assertion = await signChallenge(passkeyChallenge(statements.map(statementDigest)), rpId, id);
  return passkeyEnvelopes(statements, keyId, assertion);
}
