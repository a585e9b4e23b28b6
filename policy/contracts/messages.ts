/**
 * Name of every message of a review, defined once. `docs/wire.md` publishes them, so a backend in another language needs no
 * SDK of ours. A signal and an update may share a name: same payload, same path.
 */
import type { Envelope } from './diff';
import type { ReviewOutcome } from './outcome';

export const MESSAGES = {
  submit: 'submit',
  answer: 'answer',
  withdraw: 'withdraw',
  supersede: 'supersede',
  lookAgain: 'look_again',
  status: 'status',
  evidence: 'evidence',
} as const;

/** Signals that a review sends to the workflow that the submission named in `replyTo`. */
export const REPLY_MESSAGES = { commit: 'commit', rollback: 'rollback' } as const;

/** Payload of both reply signals. */
export interface DecidedMessage {
  readonly changeId: string;
  readonly receipt: Envelope | null;
  readonly outcome: ReviewOutcome;
}
