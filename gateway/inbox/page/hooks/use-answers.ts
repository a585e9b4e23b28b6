import { useState } from 'preact/hooks';
import { answerMessages } from '../../../../client/answer-messages';
import type { AnswerResults } from '../../../../policy/contracts/answer';
import type { VerifiedReview } from '../../../../signing/verified-review';
import type { InboxSession } from '../../api';
import { api } from '../api-client';
import type { Chosen } from '../model/choices';
import { failureText } from '../passkey';
import { signWithPasskey } from '../sign-answers';

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
