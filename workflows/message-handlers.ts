import { ApplicationFailure, CancellationScope, condition, log } from '@temporalio/workflow';
import type { Admitted, AdmitInput } from '../activities/review-types';
import type { AnswerResults } from '../policy/contracts/answer';
import { FailureType } from '../policy/contracts/failure-type';
import type { WithdrawResult } from '../policy/contracts/withdrawal';
import { claimsOf, claimSummary } from './claimed-answer';
import type { MessageKind } from './message-bounds';
import { admission } from './proxies';
import { publishAnswers } from './reporting';
import type { Review } from './review-state';

/**
 * Handlers of the messages of a review. A signal handler must never throw: a plain error would block the workflow task, and an
 * ApplicationFailure would fail the whole review. A cancellation of the workflow, which proves nothing, does not end a handler: what a
 * person says until the workflow ends is admitted, or refused with a row.
 */
export class MessageHandlers {
  #seq = 0;

  constructor(readonly review: Review) {}

  /** For update validators: throws if the message is past a bound, so that it writes no event. */
  assertWithinBounds(kind: MessageKind, message: unknown): void {
    const refusal = this.review.bounds.refusal(kind, message);
    if (refusal !== null) throw ApplicationFailure.nonRetryable(refusal, FailureType.Validation);
  }

  /** For signals: false if the message is past a bound and must be dropped. */
  #isWithinBounds(kind: MessageKind, message: unknown): boolean {
    this.review.received++;
    if (this.review.bounds.refusal(kind, message) === null) return true;
    this.review.dropped++;
    this.review.warn('Messages past the bounds of a review were dropped');
    return false;
  }

  /** One path for update and signal: the activity `admitAnswer` verifies, appends to the ledger, and returns the result of each answer. */
  answer(message: unknown, via: 'update' | 'signal'): Promise<AnswerResults> {
    return CancellationScope.nonCancellable(() => this.#answer(message, via));
  }

  async #answer(message: unknown, via: 'update' | 'signal'): Promise<AnswerResults> {
    const { bounds } = this.review;
    bounds.count('answer', message);
    // The violations may already be disclosed in the ledger while the activity's result arrives in the same activation, after
    // this message. The disclosure is bounded by its own timeouts.
    await condition(() => !this.review.disclosing && this.review.isOpeningDone());
    const { admitted, results } = await this.#admit(message, via);
    // The review may have closed while the activity ran. A late answer is in the ledger but decides nothing.
    if (!this.review.isClosed()) this.review.admit(admitted);
    this.review.keepRefusals(claimsOf(message, this.review.names()), results);
    publishAnswers(this.review, admitted.length);
    // The ledger has this review as closed: the run was reset to an earlier point. It ends with the recorded outcome.
    const closedInLedger = this.review.isWaiting() && Object.values(results).some(({ code }) => code === 'closed');
    if (closedInLedger)
      this.review.stopped ??= { reason: 'commit_failed', explanation: 'The ledger has this review as closed' };
    if (Object.values(results).every(({ code }) => code === 'accepted')) bounds.giveBack('answer', message);
    return results;
  }

  async answerSignal(message: unknown): Promise<void> {
    if (!this.#isWithinBounds('answer', message)) return;
    try {
      await this.answer(message, 'signal');
    } catch (error) {
      this.review.warn('An answer sent by signal could not be admitted and does not count. Send it again.');
      log.error('An answer sent by signal could not be admitted', { error: String(error) });
    }
  }

  #admit(message: unknown, via: 'update' | 'signal'): Promise<Admitted> {
    const { review } = this;
    const input: AdmitInput = {
      changeId: review.changeId,
      closed: review.isClosed(),
      admitted: review.answers().map(({ digest }) => digest),
      message,
      via,
    };
    return admission(review.localTurn, claimSummary(message, review.names()), via).admitAnswer(input);
  }

  /**
   * Withdraws or supersedes the change. The activity verifies the message and appends the row; only then is it acknowledged. From
   * that row on no commit can begin, even if this workflow fails or is terminated.
   */
  stop(kind: 'withdraw' | 'supersede', message: unknown, via: 'update' | 'signal'): Promise<WithdrawResult> {
    return CancellationScope.nonCancellable(() => this.#stop(kind, message, via));
  }

  async #stop(kind: 'withdraw' | 'supersede', message: unknown, via: 'update' | 'signal'): Promise<WithdrawResult> {
    const { review } = this;
    review.bounds.count('stop', message);
    // Until the change is opened the ledger has nothing that the message could be compared with.
    await condition(() => review.isOpeningDone());
    const input = { changeId: review.changeId, kind, message, via };
    const { result, stopped } = await admission(
      review.localTurn,
      `${kind} ${++this.#seq}, by ${via}`,
      via,
    ).admitWithdrawal(input);
    if (stopped !== null) review.stopped ??= stopped;
    return result;
  }

  /** Of `lookAgain`, which the reconciler and operators send. Each makes a waiting review read its rows once, so they are bounded. */
  lookAgain(): void {
    if (!this.#isWithinBounds('stop', null)) return;
    this.review.bounds.count('stop', null);
    this.review.lookAgain = true;
  }

  async stopSignal(kind: 'withdraw' | 'supersede', message: unknown): Promise<void> {
    if (!this.#isWithinBounds('stop', message)) return;
    try {
      await this.stop(kind, message, 'signal');
    } catch (error) {
      this.review.warn(`A signal "${kind}" could not be admitted and has no effect. Send it again.`);
      log.error('A signal could not be admitted', { kind, error: String(error) });
    }
  }
}
