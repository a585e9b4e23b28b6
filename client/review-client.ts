/**
 * Speaks to reviews through Temporal. Every call is bounded; what it cannot know it says.
 *
 * C1 A time-out is never read as a no: the caller learns that it may have happened, and that asking again is safe.
 * C2 What the workflow says is shown; only a trusted committer's receipt makes it `verified`.
 * C3 An answer for a review that is over goes to the ledger as refused, not into the void (T56).
 */
import { WithStartWorkflowOperation, type Client, type WorkflowHandle } from '@temporalio/client';
import { TypedSearchAttributes, type Workflow } from '@temporalio/common';
import { AnswerMessage, MAX_ANSWERS_PER_MESSAGE, type AnswerResults } from '../policy/contracts/answer';
import { Sha256Hex, type Submission } from '../policy/contracts/diff';
import { changeId as changeIdOf } from '../policy/contracts/change-id';
import type { ReviewOutcome } from '../policy/contracts/outcome';
import type { Preflight, ReviewStatus } from '../policy/contracts/status';
import { SupersedeMessage, WithdrawMessage, type WithdrawResult } from '../policy/contracts/withdrawal';
import type { Evidence } from '../policy/contracts/evidence';
import { MESSAGES } from '../policy/contracts/messages';
import { REVIEW_WORKFLOW, TASK_QUEUES } from '../policy/contracts/queues';
import { startAttributes } from '../policy/contracts/search-attributes';
import { answerKeys } from './answer-keys';
import { linkToChange } from './change-link';
import { CountersignError, messageOf } from './errors';
import { parseInput } from './parse';
import type { ClientLedger, ListFilter, RecordedReview, ReviewPage } from './ports';
import type { ReceiptTrust } from './receipt';
import { toStatus } from './recorded';
import { toPreflight, toResult, type ReviewResult } from './result';
import { SUBMIT_TIMEOUT_MS, type Bounded, type Submitted } from './review-calls';
import { fromLedger, notFound, noWorker, refusedBy, setupHint, unavailable } from './review-errors';
import { toTrouble, type TemporalTrouble } from './temporal-errors';
import { describeStart } from './start-description';

export interface ReviewClientOptions {
  readonly temporal: Client;
  /** A review queue, or one of its family (`countersign-review-acme`). Default `countersign-review`. */
  readonly taskQueue?: string;
  readonly ledger?: ClientLedger | null;
  /** Without trust roots every outcome is `unverified`. */
  readonly trust?: ReceiptTrust | null;
}

const CALL_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 30_000;
/** After a time-out: how long to find out what it means. */
const PROBE_TIMEOUT_MS = 2_000;

export class ReviewClient {
  readonly #temporal: Client;
  readonly #taskQueue: string;
  readonly #ledger: ClientLedger | null;
  readonly trust: ReceiptTrust | null;

  constructor(options: ReviewClientOptions) {
    this.#temporal = options.temporal;
    this.#taskQueue = options.taskQueue ?? TASK_QUEUES.review;
    this.#ledger = options.ledger ?? null;
    this.trust = options.trust ?? null;
  }

  /**
   * Starts the review, or joins the one that runs, and waits for the static findings. Idempotent. Throws `refused` where the
   * review itself refuses (unknown source tool, no plan), `temporal_unavailable` where it is not known whether it started.
   */
  async start(submission: Submission, { timeoutMs = SUBMIT_TIMEOUT_MS }: Bounded = {}): Promise<Submitted> {
    const changeId = changeIdOf(submission);
    linkToChange(changeId);
    const startWorkflowOperation = new WithStartWorkflowOperation(REVIEW_WORKFLOW, {
      workflowId: changeId,
      taskQueue: this.#taskQueue,
      args: [submission],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      typedSearchAttributes: new TypedSearchAttributes(startAttributes(submission)),
      ...describeStart(submission),
    });
    try {
      const preflight = await this.#within(timeoutMs, () =>
        // No update id of ours: the server answers a known one from a closed run as if it were open, and an outcome
        // that is known already would read as a new approval. A retry inside this call has the id that the SDK gave it.
        this.#temporal.workflow.executeUpdateWithStart<Workflow, Preflight, []>(MESSAGES.submit, {
          startWorkflowOperation,
        }),
      );
      return { changeId, preflight, outcome: null };
    } catch (error) {
      return await this.#notStarted(changeId, toTrouble(error), error);
    }
  }

  async #notStarted(changeId: string, trouble: TemporalTrouble, cause: unknown): Promise<Submitted> {
    switch (trouble.kind) {
      case 'already_closed':
      case 'gone':
        return await this.#submittedBefore(changeId);
      case 'slow':
      case 'away':
      case 'no_worker':
        switch (await this.#probe(changeId)) {
          case 'running':
            return { changeId, preflight: 'pending', outcome: null };
          case 'closed':
            return await this.#submittedBefore(changeId);
          case 'unknown':
            break;
        }
        throw unavailable(
          'Whether the review started is not known: submit again, the same change is the same review',
          trouble.message,
          cause,
        );
      case 'refused':
        throw refusedBy(trouble, cause);
      case 'ended_badly':
      case 'no_review':
      case 'other':
        throw new CountersignError(
          'internal',
          `Submitting ${changeId} failed: ${trouble.message}${setupHint(trouble.message)}`,
          { cause },
        );
      default:
        return trouble satisfies never;
    }
  }

  async #submittedBefore(changeId: string): Promise<Submitted> {
    const result = await this.result(changeId, { timeoutMs: CALL_TIMEOUT_MS });
    if (result.state === 'PENDING') return { changeId, preflight: 'pending', outcome: null };
    if (result.state === 'ABORTED') {
      throw new CountersignError(
        'refused',
        `This change was submitted before, and its review ended without an outcome: ${result.why}. Name a new requestKey to submit it again`,
        { details: 'aborted' },
      );
    }
    return { changeId, preflight: toPreflight(result.outcome), outcome: result.outcome };
  }

  /** How a review stands: from the workflow, and after the server's retention from the ledger. Throws `not_found`, `worker_unavailable`, `temporal_unavailable`. */
  async status(changeId: string): Promise<ReviewStatus> {
    try {
      return await this.#query<ReviewStatus>(changeId, MESSAGES.status);
    } catch (error) {
      if (!(error instanceof CountersignError) || (error.code !== 'not_found' && error.code !== 'worker_unavailable'))
        throw error;
      const recorded = await this.#recorded(changeId);
      // An open review is for its workflow to tell; how one ended, the ledger knows without a worker.
      if (recorded === null || (error.code === 'worker_unavailable' && recorded.outcome === null)) throw error;
      return toStatus(recorded);
    }
  }

  /** Everything the decision rests on, as the workflow holds it. Only while the server retains the review; later `countersign export`. */
  async evidence(changeId: string): Promise<Evidence> {
    return await this.#query<Evidence>(changeId, MESSAGES.evidence);
  }

  async #query<T>(changeId: string, name: string): Promise<T> {
    const handle = this.#handle(changeId);
    try {
      return await this.#within(CALL_TIMEOUT_MS, () => handle.query<T>(name));
    } catch (error) {
      throw await this.#notAnswered(changeId, toTrouble(error), error, 'Ask again later');
    }
  }

  /**
   * Sends answers, signed (or plain where the target takes them). By update the verdict on each comes back, keyed by violation
   * id; by signal nothing is known yet, and `{}` comes back. A closed review answers `closed` for each, and the refusal goes to
   * the ledger. More than 50 go as several messages. Throws `not_found`; after `worker_unavailable` or `temporal_unavailable`
   * send again: the same answer twice counts once.
   */
  async answer(
    changeId: string,
    answers: AnswerMessage['answers'],
    { via = 'update', timeoutMs = ANSWER_TIMEOUT_MS }: Bounded & { readonly via?: 'update' | 'signal' } = {},
  ): Promise<AnswerResults> {
    linkToChange(changeId);
    const results: AnswerResults = {};
    const all = Array.isArray(answers) ? answers : [answers];
    for (let i = 0; i === 0 || i < all.length; i += MAX_ANSWERS_PER_MESSAGE) {
      const message = parseInput(
        AnswerMessage,
        { answers: all.slice(i, i + MAX_ANSWERS_PER_MESSAGE) },
        'Answers are signed envelopes, or plain answers keyed by violationId; none was sent',
      );
      Object.assign(results, await this.#send(changeId, message, via, timeoutMs));
    }
    return results;
  }

  async #send(
    changeId: string,
    message: AnswerMessage,
    via: 'update' | 'signal',
    timeoutMs: number,
  ): Promise<AnswerResults> {
    const handle = this.#handle(changeId);
    try {
      if (via === 'update')
        return await this.#within(timeoutMs, () =>
          handle.executeUpdate<AnswerResults, [AnswerMessage]>(MESSAGES.answer, { args: [message] }),
        );
      await this.#within(timeoutMs, () => handle.signal<[AnswerMessage]>(MESSAGES.answer, message));
      return {};
    } catch (error) {
      const trouble = toTrouble(error);
      if (trouble.kind !== 'gone')
        throw await this.#notAnswered(changeId, trouble, error, 'Send again: the same answer twice counts once');
      return await this.#tooLate(changeId, message, error);
    }
  }

  async #tooLate(changeId: string, message: AnswerMessage, cause: unknown): Promise<AnswerResults> {
    const known = (await this.#probe(changeId)) !== 'unknown' || (await this.#recorded(changeId)) !== null;
    if (!known) throw notFound(changeId, cause);
    const why = 'The review is over; no answer counts any more';
    if (this.#ledger !== null) {
      const ledger = this.#ledger;
      await fromLedger(
        () => ledger.recordLate(changeId, message, why),
        'The review is over, and the refusal of this answer could not be recorded',
      );
    }
    return Object.fromEntries(answerKeys(message).map((key) => [key, { code: 'closed' as const, message: why }]));
  }

  /** Takes the change back. Only ever rolls back. `too_late` once the commit has begun. */
  async withdraw(changeId: string, message: WithdrawMessage): Promise<WithdrawResult> {
    return await this.#takeBack(changeId, MESSAGES.withdraw, parseInput(WithdrawMessage, message, 'Nothing was sent'));
  }

  /** Lets another change take this one's place; it keeps no answer. */
  async supersede(changeId: string, message: SupersedeMessage): Promise<WithdrawResult> {
    return await this.#takeBack(
      changeId,
      MESSAGES.supersede,
      parseInput(SupersedeMessage, message, 'Nothing was sent'),
    );
  }

  async #takeBack(
    changeId: string,
    name: typeof MESSAGES.withdraw | typeof MESSAGES.supersede,
    message: WithdrawMessage | SupersedeMessage,
  ): Promise<WithdrawResult> {
    const handle = this.#handle(changeId);
    try {
      return await this.#within(ANSWER_TIMEOUT_MS, () =>
        handle.executeUpdate<WithdrawResult, [typeof message]>(name, { args: [message] }),
      );
    } catch (error) {
      const trouble = toTrouble(error);
      if (trouble.kind !== 'gone')
        throw await this.#notAnswered(changeId, trouble, error, 'Send again: it takes effect once');
      const known = (await this.#probe(changeId)) !== 'unknown' || (await this.#recorded(changeId)) !== null;
      if (!known) throw notFound(changeId, error);
      return { code: 'too_late', message: 'The review is over' };
    }
  }

  /** Waits for the end, at most `timeoutMs` (0: only looks). Never throws on time-out: the answer is `PENDING`. */
  async result(changeId: string, { timeoutMs = 0 }: Bounded = {}): Promise<ReviewResult> {
    if (timeoutMs <= 0 && (await this.#probe(changeId)) === 'running') return await this.#pending(changeId);
    const handle = this.#handle(changeId);
    try {
      const outcome = await this.#within(
        Math.max(timeoutMs, PROBE_TIMEOUT_MS),
        () => handle.result() as Promise<ReviewOutcome>,
      );
      return toResult(changeId, outcome, this.trust);
    } catch (error) {
      const trouble = toTrouble(error);
      if (trouble.kind === 'slow') return await this.#pending(changeId);
      if (trouble.kind === 'gone' || trouble.kind === 'ended_badly')
        return await this.#fromLedger(changeId, trouble, error);
      throw await this.#notAnswered(changeId, trouble, error, 'Ask again');
    }
  }

  async #pending(changeId: string): Promise<ReviewResult> {
    try {
      return { state: 'PENDING', status: await this.status(changeId) };
    } catch (error) {
      // The workers are away; the review waits without them (P11).
      if (error instanceof CountersignError && error.code === 'worker_unavailable')
        return { state: 'PENDING', status: null };
      throw error;
    }
  }

  async #fromLedger(
    changeId: string,
    trouble: TemporalTrouble & { kind: 'gone' | 'ended_badly' },
    cause: unknown,
  ): Promise<ReviewResult> {
    const recorded = await this.#recorded(changeId);
    if (recorded?.outcome != null) return toResult(changeId, recorded.outcome, this.trust);
    if (trouble.kind === 'ended_badly') return { state: 'ABORTED', verified: 'unverified', why: trouble.message };
    if (recorded === null) throw notFound(changeId, cause);
    return {
      state: 'ABORTED',
      verified: 'unverified',
      why: 'Temporal no longer has the review, and the ledger has no end of it',
    };
  }

  /** Reviews of the ledger's projection, newest first. Throws `ledger_unavailable`. */
  async list(filter: ListFilter = {}): Promise<ReviewPage> {
    const ledger = this.#ledger;
    if (ledger === null)
      throw new CountersignError(
        'ledger_unavailable',
        'No ledger is configured here: reviews can be read one by one, not listed',
      );
    const { tenant, state, target, after, limit = 50 } = filter;
    if (!Number.isInteger(limit) || limit < 1 || limit > 500)
      throw new CountersignError(
        'invalid_input',
        `limit: expected 1 to 500, got ${String(limit)}. Page with \`after\``,
        { field: 'limit' },
      );
    const query = {
      limit,
      ...(tenant === undefined ? {} : { tenant }),
      ...(state === undefined ? {} : { state }),
      ...(target === undefined ? {} : { target }),
      ...(after === undefined ? {} : { after }),
    };
    return await fromLedger(() => ledger.list(query), 'Reviews cannot be listed');
  }

  #handle(changeId: string): WorkflowHandle {
    return this.#temporal.workflow.getHandle(
      parseInput(Sha256Hex, changeId, 'A changeId is 64 lower-case hex digits, as `submit` answers it'),
    );
  }

  async #within<T>(timeoutMs: number, call: () => Promise<T>): Promise<T> {
    return await this.#temporal.withDeadline(Date.now() + timeoutMs, call);
  }

  /** Whether a run of this id exists. Throws `temporal_unavailable` where the server does not say in time. */
  async #probe(changeId: string): Promise<'running' | 'closed' | 'unknown'> {
    const handle = this.#handle(changeId);
    try {
      const description = await this.#within(PROBE_TIMEOUT_MS, () => handle.describe());
      return description.status.name === 'RUNNING' ? 'running' : 'closed';
    } catch (error) {
      const trouble = toTrouble(error);
      if (trouble.kind === 'gone') return 'unknown';
      throw unavailable('Ask again', messageOf(error), error);
    }
  }

  async #recorded(changeId: string): Promise<RecordedReview | null> {
    const ledger = this.#ledger;
    return ledger === null
      ? null
      : await fromLedger(
          () => ledger.outcome(changeId),
          'Temporal does not have the review, and the ledger cannot be read',
        );
  }

  async #notAnswered(
    changeId: string,
    trouble: TemporalTrouble,
    cause: unknown,
    todo: string,
  ): Promise<CountersignError> {
    switch (trouble.kind) {
      case 'gone':
      case 'already_closed':
        return notFound(changeId, cause);
      case 'no_review':
        return new CountersignError('not_found', `Workflow ${changeId} is no review: ${trouble.message}`, { cause });
      case 'no_worker':
        return noWorker(changeId, todo, cause);
      case 'slow':
        // The server answers a probe: then it is the worker that did not.
        return (await this.#probe(changeId)) === 'unknown'
          ? notFound(changeId, cause)
          : noWorker(changeId, todo, cause);
      case 'away':
        return unavailable(todo, trouble.message, cause);
      case 'refused':
        return refusedBy(trouble, cause);
      case 'ended_badly':
      case 'other':
        return new CountersignError('internal', trouble.message, { cause });
      default:
        return trouble satisfies never;
    }
  }
}
