import { condition, log, patched } from '@temporalio/workflow';
import type { Admitted, AdmitInput } from '../activities/review-types';
import type { AnswerResults } from '../policy/contracts/answer';
import { SupersedeMessage, WithdrawMessage, type WithdrawResult } from '../policy/contracts/withdrawal';
import { admission } from './proxies';
import type { Review } from './review-state';

/**
 * What becomes of each message. A signal handler must never throw: a plain error would stick the workflow task, an
 * ApplicationFailure would fail the whole review.
 */

/** Signals beyond this many refusals are only counted: a flood must not fill the history (51,200 events end a run). Updates stay open, bounded by the server at 2,000 a run. */
const MAX_REFUSED_SIGNALS = 1_000;

export class Answering {
  #refusedSignals = 0;
  #seq = 0;

  constructor(readonly review: Review) {}

  /** One path for both forms: the admission activity verifies, writes the ledger, and says what became of each answer. */
  async answer(message: unknown, via: 'update' | 'signal'): Promise<AnswerResults> {
    if (via === 'signal' && this.#refusedSignals >= MAX_REFUSED_SIGNALS) {
      this.#refusedSignals++;
      return {};
    }
    // It may be to violations that stand in the ledger, whose report comes in the same activation, after this message. The
    // disclosure ends within its own time-outs.
    if (this.review.disclosing && patched('an answer waits for the disclosure'))
      await condition(() => !this.review.disclosing);
    const { admitted, results } = await this.#admit(message, via);
    // State may have moved while the activity ran: what is admitted late is in the ledger, and decides nothing.
    if (!this.review.isClosed()) this.review.admit(admitted);
    // The ledger has it as ended, and this run was reset to before: it ends as it stands there, and waits for nobody.
    const ended = !this.review.isClosed() && Object.values(results).some(({ code }) => code === 'closed');
    if (ended && patched('a review that has ended in the ledger ends'))
      this.review.stopped ??= { reason: 'withdrawn', explanation: 'The ledger has this review as ended' };
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
      this.review.warnings.push('An answer sent by signal could not be admitted; it does not count. Send it again.');
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
