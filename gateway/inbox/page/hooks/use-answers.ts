import { useState } from 'preact/hooks';
import { answerMessages } from '../../../../client/answer-messages';
import type { AnswerResults } from '../../../../policy/contracts/answer';
import type { VerifiedReview } from '../../../../signing/verified-review';
import type { InboxSession } from '../../api';
import { api, serverNow } from '../api-client';
import type { Chosen } from '../model/choices';
import { failureText, PasskeyError, signChallenge } from '../passkey';
import { fromBase64Url } from '../../../../policy/evidence/base64';
import { passkeyChallenge, statementDigest, passkeyEnvelopes } from '../../../../policy/evidence/passkey-challenge';
import type { Envelope } from '../../../../policy/contracts/diff';
import { answerStatements } from '../../../../client/answer-statements';

export interface Answering {
  readonly sending: boolean;
  /** Why answers of the last attempt were not sent. `results` has those that were. */
  readonly error: string | null;
  /** By violation id, of all attempts on this page. */
  readonly results: AnswerResults;
  readonly send: (review: VerifiedReview, answers: readonly Chosen[]) => Promise<void>;
}

/** Signs and sends answers. `onAccepted` gets the violations whose answer was recorded. */
export function useAnswers(session: InboxSession, onAccepted: (violationIds: readonly string[]) => void): Answering {
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [results, setResults] = useState<AnswerResults>({});
  const send = async (review: VerifiedReview, answers: readonly Chosen[]): Promise<void> => {
    setSending(true);
    setError(null);
    try {
      for (const message of answerMessages(await signWithPasskey(review, answers, session))) {
        const said = await api.answer(review.changeId, message);
        setResults((known) => ({ ...known, ...said }));
        onAccepted(Object.entries(said).flatMap(([id, { code }]) => (RECORDED.has(code) ? [id] : [])));
      }
    } catch (failure) {
      setError(failureText(failure));
    } finally {
      setSending(false);
    }
  };
  return { sending, error, results, send };
}

const RECORDED: ReadonlySet<string> = new Set(['accepted', 'duplicate']);

const VALID_MS = 10 * 60_000;

/** One statement for each answer, and one passkey signature over all of them. Throws PasskeyError if the passkey was not used. */
async function signWithPasskey(
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
