/** The messages of `policy/contracts/messages`, as Temporal's typed definitions. */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AnswerMessage, AnswerResults } from '../policy/contracts/answer';
import { MESSAGES, REPLY_MESSAGES, type DecidedMessage } from '../policy/contracts/messages';
import type { Preflight, ReviewStatus } from '../policy/contracts/status';
import type { SupersedeMessage, WithdrawMessage, WithdrawResult } from '../policy/contracts/withdrawal';

/** Takes no argument, because the workflow input is the submission. Returns the static findings. */
export const submitUpdate = defineUpdate<Preflight>(MESSAGES.submit);

export const answerUpdate = defineUpdate<AnswerResults, [AnswerMessage]>(MESSAGES.answer);
export const answerSignal = defineSignal<[AnswerMessage]>(MESSAGES.answer);

export const withdrawUpdate = defineUpdate<WithdrawResult, [WithdrawMessage]>(MESSAGES.withdraw);
export const withdrawSignal = defineSignal<[WithdrawMessage]>(MESSAGES.withdraw);

export const supersedeUpdate = defineUpdate<WithdrawResult, [SupersedeMessage]>(MESSAGES.supersede);
export const supersedeSignal = defineSignal<[SupersedeMessage]>(MESSAGES.supersede);

/** Makes a review whose effect is unknown check the target now instead of in ten minutes. It has no authority, so it needs no signature. */
export const lookAgainSignal = defineSignal(MESSAGES.lookAgain);

export const statusQuery = defineQuery<ReviewStatus>(MESSAGES.status);

/** Sent to the workflow that the submission named in `replyTo`. */
export const commitSignal = defineSignal<[DecidedMessage]>(REPLY_MESSAGES.commit);
export const rollbackSignal = defineSignal<[DecidedMessage]>(REPLY_MESSAGES.rollback);
