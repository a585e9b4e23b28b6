import { ApplicationFailure, condition, log } from '@temporalio/workflow';
import type { Admitted, AdmitInput } from '../activities/review-types';
import type { AnswerResults } from '../policy/contracts/answer';
import { FailureType } from '../policy/contracts/failure-type';
import { SupersedeMessage, WithdrawMessage, type WithdrawResult } from '../policy/contracts/withdrawal';
import type { MessageKind } from './message-bounds';
import { admission } from './proxies';
import type { Review } from './review-state';

/**
 * Handlers of the messages of a review. A signal handler must never throw: a plain error would block the workflow task, and an
 * ApplicationFailure would fail the whole review.
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
  async answer(message: unknown, via: 'update' | 'signal'): Promise<AnswerResults> {
    const { bounds } = this.review;
    bounds.count('answer', message);
    // The violations may already be disclosed in the ledger while the activity's result arrives in the same activation, after
    // this message. The disclosure is bounded by its own timeouts.
    await condition(() => !this.review.disclosing);
    const { admitted, results } = await this.#admit(message, via);
    // The review may have closed while the activity ran. A late answer is in the ledger but decides nothing.
    if (!this.review.isClosed()) this.review.admit(admitted);
    // The ledger has this review as closed: the run was reset to an earlier point. It ends with the recorded outcome.
    const closedInLedger = !this.review.isClosed() && Object.values(results).some(({ code }) => code === 'closed');
    if (closedInLedger)
      this.review.stopped ??= { reason: 'withdrawn', explanation: 'The ledger has this review as closed' };
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
    const { tenant, target } = review.submission;
    const input: AdmitInput = {
      changeId: review.changeId,
      context: { tenant, target, environment: review.environment() },
      answersMode: review.opened?.plan.answers ?? 'signed',
      development: review.opened?.plan.development ?? false,
      fingerprint: review.fingerprint,
      closed: review.isClosed(),
      requester: review.opened?.requester ?? null,
      violations: review.violations.map((v) => ({
        violationId: v.violationId,
        need: v.need,
        group: v.group,
        members: review.plan.groups[v.group]?.members ?? [],
        fourEyes: v.fourEyes,
      })),
      // Admission needs their digests only; the reasons of many answers could exceed the server's limit of a payload.
      admitted: review.answers().map((answer) => ({ ...answer, reason: '' })),
      message,
      via,
    };
    return admission(`answer ${++this.#seq}, by ${via}`, via).admitAnswer(input);
  }

  /** `withdraw` and `supersede` by signal. */
  stopSignal(name: 'withdraw' | 'supersede', message: unknown): void {
    if (this.#isWithinBounds('stop', message)) this[name](message);
  }

  withdraw(message: unknown): WithdrawResult {
    this.review.bounds.count('stop', message);
    const parsed = WithdrawMessage.safeParse(message);
    if (!parsed.success) return { code: 'malformed', message: 'withdraw: expected {"actor": text, "reason": text}' };
    const { actor, reason } = parsed.data;
    return this.#stop('withdrawn', `Withdrawn by ${actor}${reason === '' ? '' : `: ${reason}`}`);
  }

  supersede(message: unknown): WithdrawResult {
    this.review.bounds.count('stop', message);
    const parsed = SupersedeMessage.safeParse(message);
    if (!parsed.success)
      return { code: 'malformed', message: 'supersede: expected {"by": changeId, "actor": text, "reason": text}' };
    return this.#stop('superseded', `Superseded by ${parsed.data.by}`);
  }

  #stop(reason: 'withdrawn' | 'superseded', explanation: string): WithdrawResult {
    if (this.review.isClosed()) return { code: 'too_late', message: `The review is ${this.review.state}` };
    if (this.review.stopped !== null) return { code: 'duplicate', message: this.review.stopped.explanation };
    this.review.stopped = { reason, explanation };
    return { code: 'accepted', message: explanation };
  }
}
