/**
 * Calls reviews: messages go through Temporal, everything that is reported comes from the ledger. Every call has a time-out.
 *
 * C0 No statement of a workflow is trusted: anyone who can write to the namespace can replace the workflow. Status and outcome
 *    are rebuilt from verified rows, bytes and policy; an answer is acknowledged when its row was read back.
 * C1 A time-out is never reported as a failure of the operation: the error says that it may have taken effect and can be retried.
 * C2 Without a ledger an outcome of the workflow is `verified` only with a receipt of a trusted committer, and answers are `sent`.
 * C3 An answer or a withdrawal that was not recorded before the ledger had the end of the review is recorded as refused; it is never
 *    silently dropped.
 */
import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { AnswerMessage, AnswerResults } from '../policy/contracts/answer';
import type { Submission } from '../policy/contracts/diff';
import { changeId as changeIdOf } from '../policy/contracts/change-id';
import type { ReviewStatus } from '../policy/contracts/status';
import { SpendMessage, type SpendResult } from '../policy/contracts/spent';
import { SupersedeMessage, WithdrawMessage, WithdrawResult } from '../policy/contracts/withdrawal';
import { MESSAGES } from '../policy/contracts/messages';
import { isReviewQueue, TASK_QUEUES } from '../policy/contracts/queues';
import { linkToChange } from './change-link';
import { CountersignError } from './errors';
import { parseChangeId, parseInput, parseTimeout } from './parse';
import { withChecksum, type Evidence, type EvidenceBundle } from '../policy/evidence/bundle';
import type { VerifiedReview } from '../signing/verified-review';
import { acknowledge, unacknowledged, type KeyOwners } from './acknowledge';
import { acknowledgeWithdrawal, unacknowledgedWithdrawal } from './acknowledge-withdrawal';
import { answerMessages } from './answer-messages';
import { answeredAfterRun, stoppedAfterRun, type AfterRun } from './after-run';
import { listReviews } from './list-reviews';
import type { BundleOptions, ClientLedger, ListFilter, ReviewPage } from './ports';
import type { WatchedRows } from './read-back';
import { readReview } from './read-review';
import { TrustOption, type ReceiptTrust } from './receipt';
import { toPreflight, type ReviewResult } from './result';
import { SUBMIT_TIMEOUT_MS, type Bounded, type Submitted, type Waiting } from './review-calls';
import { fromLedger, partThatIsDown } from './review-errors';
import { ReviewRuns } from './review-runs';
import { startReview } from './start-review';
import { toTemporalProblem, type TemporalProblem } from './temporal-errors';
import { resultFromLedger, resultOfWorkflow } from './wait-for-result';

export interface ReviewClientOptions {
  readonly temporal: Client;
  /** A review queue, or one of its family (`countersign-review-acme`). Default `countersign-review`. */
  readonly taskQueue?: string;
  readonly ledger?: ClientLedger | null;
  /** Without trust roots every outcome is `unverified`, and no review can be read or answered. */
  readonly trust?: ReceiptTrust | null;
}

/** `title`: what the change does, for the Temporal UI; it decides nothing. */
export interface StartOptions extends Bounded {
  readonly title?: string | null;
}

export interface AnswerOptions extends Bounded {
  readonly via?: 'update' | 'signal';
  /** The verified owners of the keys that signed. Then the same decision by another key of one person is a `duplicate`. */
  readonly owners?: KeyOwners;
}

/** A message to a review. `again`: what to do if it is unknown whether it arrived. */
interface Outgoing {
  readonly name: typeof MESSAGES.answer | typeof MESSAGES.withdraw | typeof MESSAGES.supersede;
  readonly message: AnswerMessage | WithdrawMessage | SupersedeMessage;
  readonly again: string;
}

const Options = z.object({
  temporal: z.custom((value) => typeof value === 'object' && value !== null, 'expected a client of Temporal'),
  // On another queue no worker would open the review, and submitting the change again would join it.
  taskQueue: z
    .string()
    .refine(isReviewQueue, `expected "${TASK_QUEUES.review}", or this name and a suffix that begins with "-"`)
    .optional(),
  trust: TrustOption,
});

const CALL_TIMEOUT_MS = 10_000;
/** Longer than the 30 s after which the server gives the tasks of a review worker that died to another one. */
const ANSWER_TIMEOUT_MS = 45_000;

export class ReviewClient {
  readonly #temporal: Client;
  readonly #runs: ReviewRuns;
  readonly #taskQueue: string;
  readonly #ledger: ClientLedger | null;
  readonly trust: ReceiptTrust | null;

  constructor(options: ReviewClientOptions) {
    parseInput(Options, options, 'See ReviewClientOptions and ReceiptTrust');
    this.#temporal = options.temporal;
    this.#runs = new ReviewRuns(options.temporal);
    this.#taskQueue = options.taskQueue ?? TASK_QUEUES.review;
    this.#ledger = options.ledger ?? null;
    this.trust = options.trust ?? null;
  }

  /**
   * Starts the review, or joins the running one, and waits for the static findings. Idempotent. Throws `refused` if the review
   * refuses the submission (unknown source tool, no plan), and `temporal_unavailable` if it is unknown whether the review started.
   */
  async start(
    submission: Submission,
    { timeoutMs = SUBMIT_TIMEOUT_MS, title = null }: StartOptions = {},
  ): Promise<Submitted> {
    const changeId = changeIdOf(submission);
    linkToChange(changeId);
    const preflight = await startReview({
      temporal: this.#temporal,
      runs: this.#runs,
      taskQueue: this.#taskQueue,
      changeId,
      submission,
      timeoutMs: parseTimeout(timeoutMs),
      title,
    });
    if (preflight === 'closed') return await this.#joinEarlierSubmission(changeId);
    return { changeId, preflight, outcome: null };
  }

  async #joinEarlierSubmission(changeId: string): Promise<Submitted> {
    const result = await this.result(changeId, { timeoutMs: CALL_TIMEOUT_MS });
    if (result.state === 'PENDING') return { changeId, preflight: 'pending', outcome: null };
    if (result.state === 'ABORTED') {
      throw new CountersignError(
        'refused',
        `This change was submitted before, and its review ended without an outcome: ${result.why}. If ledger and target show that it had no effect, submit it again with a new requestKey`,
        { details: 'aborted' },
      );
    }
    return { changeId, preflight: toPreflight(result.outcome), outcome: result.outcome };
  }

  /** The review, rebuilt from verified rows, bytes and policy. Throws `not_verified`, `not_found`, `ledger_unavailable`. */
  async review(changeId: string): Promise<VerifiedReview> {
    return readReview(changeId, await this.#evidence(parseChangeId(changeId)), this.trust);
  }

  /** The status of `review`. */
  async status(changeId: string): Promise<ReviewStatus> {
    return (await this.review(changeId)).status;
  }

  /** Rows, bytes, policy and keys of the review, not verified. Throws `not_found`, `worker_unavailable` before it is opened. */
  async bundle(changeId: string, options: BundleOptions = {}): Promise<EvidenceBundle> {
    return withChecksum(await this.#evidence(parseChangeId(changeId), options));
  }

  async #evidence(id: string, options: BundleOptions = {}): Promise<Evidence> {
    const evidence = await this.#fromLedger((ledger) => ledger.bundle(id, options), 'The review cannot be read');
    if (evidence === null) throw await this.#runs.withoutSubmission(id);
    return evidence;
  }

  /** The tenant of a review by its rows. Throws as `bundle` does. */
  async tenantOf(changeId: string): Promise<string> {
    const id = parseChangeId(changeId);
    const summary = await this.#fromLedger((ledger) => ledger.summary(id), 'The review cannot be read');
    if (summary?.tenant == null) throw await this.#runs.withoutSubmission(id);
    return summary.tenant;
  }

  async #fromLedger<T>(read: (ledger: ClientLedger) => Promise<T>, what: string): Promise<T> {
    const ledger = this.#required(
      `${what}: this client has no ledger, and what a workflow says proves nothing. Use a GatewayClient, or set \`ledger\``,
    );
    return await fromLedger(() => read(ledger), what);
  }

  /**
   * Sends answers: signed envelopes, or plain answers if the target accepts them. Returns the result of each, keyed by violation
   * id, when its ledger row was read back; without a row after five seconds, or without a ledger, it is `sent`. If the review has
   * ended, an answer that was recorded before is `accepted` or `duplicate`; any other is `closed`, and its refusal is recorded. More
   * answers than fit in one message are sent in several. Throws `not_found`. After `worker_unavailable`, `temporal_unavailable` or
   * `ledger_unavailable`, send again: duplicates count once.
   */
  async answer(
    changeId: string,
    answers: AnswerMessage['answers'],
    { via = 'update', timeoutMs = ANSWER_TIMEOUT_MS, owners = new Map() }: AnswerOptions = {},
  ): Promise<AnswerResults> {
    linkToChange(changeId);
    const results: AnswerResults = {};
    const all = Array.isArray(answers) ? answers : [answers];
    const messages = answerMessages(all).map((part) =>
      parseInput(
        AnswerMessage,
        { answers: part },
        'Pass signed envelopes, or plain answers with a violationId. Nothing was sent',
      ),
    );
    for (const message of messages)
      Object.assign(results, await this.#sendAndReadBack(changeId, message, via, timeoutMs, owners));
    return results;
  }

  async #sendAndReadBack(
    changeId: string,
    message: AnswerMessage,
    via: 'update' | 'signal',
    timeoutMs: number,
    owners: KeyOwners,
  ): Promise<AnswerResults> {
    const out = { name: MESSAGES.answer, message, again: 'Send again: duplicates count once' };
    const sent = await this.#send(changeId, out, via, timeoutMs);
    if (sent.to === 'no run')
      return await answeredAfterRun(this.#afterRun(changeId, sent.cause), message.answers, owners);
    const said = AnswerResults.safeParse(sent.reply).data ?? {};
    const ledger = this.#ledger;
    if (ledger === null) return unacknowledged(message.answers, said);
    return await acknowledge(changeId, message.answers, said, watched(ledger, changeId), owners);
  }

  /** `reply`: null for a signal. Another workflow may have replied, so the reply only tells which rows to look for. */
  async #send(
    changeId: string,
    out: Outgoing,
    via: 'update' | 'signal',
    timeoutMs: number,
  ): Promise<{ readonly to: 'run'; readonly reply: unknown } | { readonly to: 'no run'; readonly cause: unknown }> {
    const handle = this.#runs.handle(parseChangeId(changeId));
    const { name, message, again } = out;
    try {
      if (via === 'update') {
        const reply = await this.#runs.within(timeoutMs, () =>
          handle.executeUpdate<unknown, [unknown]>(name, { args: [message] }),
        );
        return { to: 'run', reply };
      }
      await this.#runs.within(timeoutMs, () => handle.signal<[unknown]>(name, message));
      return { to: 'run', reply: null };
    } catch (error) {
      const problem = toTemporalProblem(error);
      // A flood of updates must not keep a message out: a signal has no such limit, and its row is read back too.
      if (problem.kind === 'no_more_updates' && via === 'update')
        return await this.#send(changeId, out, 'signal', timeoutMs);
      if (problem.kind !== 'not_running') throw await this.#notSent(changeId, problem, error, again);
      return { to: 'no run', cause: error };
    }
  }

  async #notSent(id: string, problem: TemporalProblem, cause: unknown, whatToDo: string): Promise<CountersignError> {
    return await partThatIsDown(await this.#runs.toError(id, problem, cause, whatToDo), this.#ledger, id);
  }

  /**
   * Sends a signed withdrawal, which rolls the change back. Returns `too_late` after the commit has begun, or if the review ended
   * otherwise, and the refusal is recorded. The result comes from the row in the ledger; without a row or a ledger it is `sent`.
   */
  async sendWithdrawal(changeId: string, message: WithdrawMessage): Promise<WithdrawResult> {
    return await this.#stop(
      changeId,
      MESSAGES.withdraw,
      parseInput(WithdrawMessage, message, 'Sign it with `signWithdrawal`. Nothing was sent'),
    );
  }

  /** Sends the signed statement that another change replaces this one. Answers are not carried over. Results as `sendWithdrawal`. */
  async sendSupersession(changeId: string, message: SupersedeMessage): Promise<WithdrawResult> {
    return await this.#stop(
      changeId,
      MESSAGES.supersede,
      parseInput(SupersedeMessage, message, 'Sign it with `signSupersession`. Nothing was sent'),
    );
  }

  async #stop(
    changeId: string,
    name: typeof MESSAGES.withdraw | typeof MESSAGES.supersede,
    message: WithdrawMessage | SupersedeMessage,
  ): Promise<WithdrawResult> {
    const out = { name, message, again: 'Send again: it takes effect once' };
    const sent = await this.#send(changeId, out, 'update', ANSWER_TIMEOUT_MS);
    if (sent.to === 'no run') return await stoppedAfterRun(this.#afterRun(changeId, sent.cause), name, message);
    const said = WithdrawResult.safeParse(sent.reply).data ?? null;
    const ledger = this.#ledger;
    if (ledger === null) return unacknowledgedWithdrawal(said);
    return await acknowledgeWithdrawal(changeId, message, said, watched(ledger, changeId));
  }

  #afterRun(changeId: string, cause: unknown): AfterRun {
    return { runs: this.#runs, ledger: this.#ledger, changeId, cause };
  }

  /**
   * Waits for the end of the review in the ledger, at most `timeoutMs` (0: returns the current state). A time-out is not an error:
   * the result is `PENDING`. `signal` ends the wait early, as a time-out does. Temporal is only asked whether a workflow exists that the
   * ledger has not opened yet: a review that it has opened is `PENDING` until its end, also without a workflow, because a committer then
   * ends it, and may find it committed.
   */
  async result(changeId: string, waiting: Waiting = {}): Promise<ReviewResult> {
    const id = parseChangeId(changeId);
    parseTimeout(waiting.timeoutMs ?? 0);
    const ledger = this.#ledger;
    if (ledger === null) return await resultOfWorkflow(this.#runs, this.trust, id, waiting);
    const source = { runs: this.#runs, ledger, trust: this.trust };
    const reading = { bundle: () => this.#evidence(id), status: () => this.status(id) };
    return await resultFromLedger(source, reading, id, waiting);
  }

  /** Writes the row `spent` (ReviewCalls.spend). `keyId`: the key of the caller of a gateway. Throws `ledger_unavailable`. */
  async spend(changeId: string, nonce: string, keyId: string | null = null): Promise<SpendResult> {
    const { nonce: own } = parseInput(SpendMessage, { nonce }, 'Nothing was written');
    const ledger = this.#required(
      'An approval can be used only with a ledger or a gateway, which record its use. Set `ledger` in the options of the client',
    );
    return await fromLedger(() => ledger.spend(changeId, own, keyId), 'The use of the approval could not be recorded');
  }

  /** Lists reviews from the ledger, newest first. Throws `ledger_unavailable`. */
  async list(filter: ListFilter = {}): Promise<ReviewPage> {
    const ledger = this.#required(
      'Reviews cannot be listed without a ledger. Set `ledger` in the options of the client',
    );
    return await listReviews(ledger, filter);
  }

  #required(without: string): ClientLedger {
    if (this.#ledger === null) throw new CountersignError('ledger_unavailable', without);
    return this.#ledger;
  }
}

function watched(ledger: ClientLedger, changeId: string): WatchedRows {
  const what = 'The message was sent, but the ledger cannot be read';
  return {
    rows: () => fromLedger(() => ledger.rows(changeId), what),
    watch: () => fromLedger(() => ledger.watch(changeId), what),
  };
}
