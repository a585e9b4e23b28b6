/**
 * Names of all messages of a review, defined once. `docs/wire.md` documents them for backends in other languages. A signal and
 * an update may share a name; then they have the same payload and the same handler.
 */
import type { Envelope } from './diff';
import type { WorkflowOutcome } from './outcome';

export const MESSAGES = {
  submit: 'submit',
  answer: 'answer',
  withdraw: 'withdraw',
  supersede: 'supersede',
  lookAgain: 'look_again',
  status: 'status',
} as const;

/** Signals that a review sends to the workflow named in the submission's `replyTo`. */
export const REPLY_MESSAGES = { commit: 'commit', rollback: 'rollback' } as const;

/** Payload of both reply signals. */
export interface DecidedMessage {
  readonly changeId: string;
  readonly receipt: Envelope | null;
  readonly outcome: WorkflowOutcome;
}

/** In the message of a query that was refused because it ran ahead of its workflow task. The sender repeats the query. */
export const RAN_AHEAD = 'RAN_AHEAD';
