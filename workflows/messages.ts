/**
 * Every message and queue name, once. `docs/wire.md` publishes them, so a backend in another language needs no SDK of
 * ours. A signal and an update share a name: same payload, same path.
 */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AnswerMessage, AnswerResults } from '../policy/contracts/answer';
import type { Envelope } from '../policy/contracts/diff';
import type { ReviewOutcome } from '../policy/contracts/outcome';
import type { Preflight, ReviewStatus } from '../policy/contracts/status';
import type { SupersedeMessage, WithdrawMessage, WithdrawResult } from '../policy/contracts/withdrawal';
import type { Evidence } from './evidence';

/** Takes no argument: the start input is the submission. Answers with the static findings. */
export const submitUpdate = defineUpdate<Preflight>('submit');

export const answerUpdate = defineUpdate<AnswerResults, [AnswerMessage]>('answer');
export const answerSignal = defineSignal<[AnswerMessage]>('answer');

export const withdrawUpdate = defineUpdate<WithdrawResult, [WithdrawMessage]>('withdraw');
export const withdrawSignal = defineSignal<[WithdrawMessage]>('withdraw');

export const supersedeUpdate = defineUpdate<WithdrawResult, [SupersedeMessage]>('supersede');
export const supersedeSignal = defineSignal<[SupersedeMessage]>('supersede');

/** To a review whose effect is unknown: look at the target now, not in ten minutes. It proves nothing, and so needs no signature. */
export const lookAgainSignal = defineSignal('look_again');

export const statusQuery = defineQuery<ReviewStatus>('status');
export const evidenceQuery = defineQuery<Evidence>('evidence');

/** Outwards, to the workflow that the submission named in `replyTo`. */
export interface DecidedMessage {
  readonly changeId: string;
  readonly receipt: Envelope | null;
  readonly outcome: ReviewOutcome;
}
export const commitSignal = defineSignal<[DecidedMessage]>('commit');
export const rollbackSignal = defineSignal<[DecidedMessage]>('rollback');
