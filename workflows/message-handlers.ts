import { condition, log } from '@temporalio/workflow';
import type { Admitted, AdmitInput } from '../activities/review-types';
import type { AnswerResults } from '../policy/contracts/answer';
import { SupersedeMessage, WithdrawMessage, type WithdrawResult } from '../policy/contracts/withdrawal';
import { admission } from './proxies';
import type { Review } from './review-state';

/**
 * After this many refusals signals are only counted, so that a flood cannot fill the history (Temporal ends a run at 51,200
 * events). Updates are bounded by the server at 2,000 per run.
 */
const MAX_REFUSED_SIGNALS = 1_000;

/**
 * Handlers of the messages of a review. A signal handler must never throw: a plain error would block the workflow task, and an
 * ApplicationFailure would fail the whole review.
 */
export class MessageHandlers {
  #refusedSignals = 0;
  #seq = 0;

  constructor(readonly review: Review) {}

  /** One path for update and signal: the activity `admitAnswer` verifies, appends to the ledger, and returns the result of each answer. */
  async answer(message: unknown, via: 'update' | 'signal'): Promise<AnswerResults> {
    if (via === 'signal' && this.#refusedSignals >= MAX_REFUSED_SIGNALS) {
      this.#refusedSignals++;
      return {};
    }
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
    if (via === 'signal')
      this.#refusedSignals += Object.values(results).filter(
        (r) => r.code !== 'accepted' && r.code !== 'duplicate',
      ).length;
    return results;
  }

  async answerSignal(message: unknown): Promise<void> {
    try {
      await this.answer(message, 'signal');
    } catch (error) {
      this.review.warnings.push('An answer sent by signal could not be admitted and does not count. Send it again.');
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
      admitted: review.answers(),
      message,
      via,
    };
    return admission(`answer ${++this.#seq}, by ${via}`, via).admitAnswer(input);
  }

  withdraw(message: unknown): WithdrawResult {
    const parsed = WithdrawMessage.safeParse(message);
    if (!parsed.success) return { code: 'malformed', message: 'withdraw: expected {"actor": text, "reason": text}' };
    const { actor, reason } = parsed.data;
    return this.#stop('withdrawn', `Withdrawn by ${actor}${reason === '' ? '' : `: ${reason}`}`);
  }

  supersede(message: unknown): WithdrawResult {
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
