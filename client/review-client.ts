/**
 * Calls reviews through Temporal. Every call has a time-out.
 *
 * C1 A time-out is never reported as a failure of the operation: the error says that it may have taken effect and can be retried.
 * C2 An outcome of the workflow is `verified` only with a receipt of a trusted committer.
 * C3 An answer to a closed review is recorded in the ledger as refused; it is never silently dropped.
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
import { toTemporalProblem, type TemporalProblem } from './temporal-errors';
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
/** Time-out of the probe that finds the cause of another time-out. */
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
   * Starts the review, or joins the running one, and waits for the static findings. Idempotent. Throws `refused` if the review
   * refuses the submission (unknown source tool, no plan), and `temporal_unavailable` if it is unknown whether the review started.
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
        // Do not set an update id: for a known id the server returns the result from a closed run as if it were open, so that
        // a known outcome would look like a new approval. Retries inside this call reuse the id that the SDK generates.
        this.#temporal.workflow.executeUpdateWithStart<Workflow, Preflight, []>(MESSAGES.submit, {
          startWorkflowOperation,
        }),
      );
      return { changeId, preflight, outcome: null };
    } catch (error) {
      return await this.#startFailed(changeId, toTemporalProblem(error), error);
    }
  }

  async #startFailed(changeId: string, problem: TemporalProblem, cause: unknown): Promise<Submitted> {
    switch (problem.kind) {
      case 'already_closed':
      case 'not_running':
        return await this.#joinEarlierSubmission(changeId);
      case 'timed_out':
      case 'unreachable':
      case 'no_worker':
        switch (await this.#probe(changeId)) {
          case 'running':
            return { changeId, preflight: 'pending', outcome: null };
          case 'closed':
            return await this.#joinEarlierSubmission(changeId);
          case 'unknown':
            break;
        }
        throw unavailable(
          'It is unknown whether the review started. Submit again: the same change joins the same review',
          problem.message,
          cause,
        );
      case 'refused':
        throw refusedBy(problem, cause);
      case 'workflow_failed':
      case 'not_a_review':
      case 'other':
        throw new CountersignError(
          'internal',
          `Submitting ${changeId} failed: ${problem.message}${setupHint(problem.message)}`,
          { cause },
        );
      default:
        return problem satisfies never;
    }
  }

  async #joinEarlierSubmission(changeId: string): Promise<Submitted> {
    const result = await this.result(changeId, { timeoutMs: CALL_TIMEOUT_MS });
    if (result.state === 'PENDING') return { changeId, preflight: 'pending', outcome: null };
    if (result.state === 'ABORTED') {
      throw new CountersignError(
        'refused',
        `This change was submitted before, and its review ended without an outcome: ${result.why}. Use a new requestKey to submit it again`,
        { details: 'aborted' },
      );
    }
    return { changeId, preflight: toPreflight(result.outcome), outcome: result.outcome };
  }

  /** The status, from the workflow, or from the ledger after Temporal's retention period. Throws `not_found`, `worker_unavailable`, `temporal_unavailable`. */
  async status(changeId: string): Promise<ReviewStatus> {
    try {
      return await this.#query<ReviewStatus>(changeId, MESSAGES.status);
    } catch (error) {
      if (!(error instanceof CountersignError) || (error.code !== 'not_found' && error.code !== 'worker_unavailable'))
        throw error;
      const recorded = await this.#recorded(changeId);
      // Only the workflow knows the current status of an open review. For a closed one, the ledger is sufficient.
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
      throw await this.#toError(changeId, toTemporalProblem(error), error, 'Ask again later');
    }
  }

  /**
   * Sends answers: signed envelopes, or plain answers if the target accepts them. As an update, returns the result of each answer,
   * keyed by violation id; as a signal, returns `{}`. For a closed review each result is `closed`, and the refusal is recorded in
   * the ledger. More than 50 answers are sent in several messages. Throws `not_found`. After `worker_unavailable` or
   * `temporal_unavailable`, send again: duplicates count once.
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
        'Pass signed envelopes, or plain answers with a violationId. Nothing was sent',
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
      const problem = toTemporalProblem(error);
      if (problem.kind !== 'not_running')
        throw await this.#toError(changeId, problem, error, 'Send again: duplicates count once');
      return await this.#refuseLate(changeId, message, error);
    }
  }

  async #refuseLate(changeId: string, message: AnswerMessage, cause: unknown): Promise<AnswerResults> {
    const known = (await this.#probe(changeId)) !== 'unknown' || (await this.#recorded(changeId)) !== null;
    if (!known) throw notFound(changeId, cause);
    const why = 'The review is closed; it does not accept answers';
    if (this.#ledger !== null) {
      const ledger = this.#ledger;
      await fromLedger(
        () => ledger.recordLate(changeId, message, why),
        'The review is closed, and the refusal of this answer could not be recorded',
      );
    }
    return Object.fromEntries(answerKeys(message).map((key) => [key, { code: 'closed' as const, message: why }]));
  }

  /** Withdraws the change, which rolls it back. Returns `too_late` after the commit has started. */
  async withdraw(changeId: string, message: WithdrawMessage): Promise<WithdrawResult> {
    return await this.#withdrawOrSupersede(
      changeId,
      MESSAGES.withdraw,
      parseInput(WithdrawMessage, message, 'Nothing was sent'),
    );
  }

  /** Replaces this change with another one. Answers are not carried over. */
  async supersede(changeId: string, message: SupersedeMessage): Promise<WithdrawResult> {
    return await this.#withdrawOrSupersede(
      changeId,
      MESSAGES.supersede,
      parseInput(SupersedeMessage, message, 'Nothing was sent'),
    );
  }

  async #withdrawOrSupersede(
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
      const problem = toTemporalProblem(error);
      if (problem.kind !== 'not_running')
        throw await this.#toError(changeId, problem, error, 'Send again: it takes effect once');
      const known = (await this.#probe(changeId)) !== 'unknown' || (await this.#recorded(changeId)) !== null;
      if (!known) throw notFound(changeId, error);
      return { code: 'too_late', message: 'The review is closed' };
    }
  }

  /** Waits for the outcome, at most `timeoutMs` (0: returns the current state). A time-out is not an error: the result is `PENDING`. */
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
      const problem = toTemporalProblem(error);
      if (problem.kind === 'timed_out') return await this.#pending(changeId);
      if (problem.kind === 'not_running' || problem.kind === 'workflow_failed')
        return await this.#fromLedger(changeId, problem, error);
      throw await this.#toError(changeId, problem, error, 'Retry the call');
    }
  }

  async #pending(changeId: string): Promise<ReviewResult> {
    try {
      return { state: 'PENDING', status: await this.status(changeId) };
    } catch (error) {
      // Without workers the review still waits on the server.
      if (error instanceof CountersignError && error.code === 'worker_unavailable')
        return { state: 'PENDING', status: null };
      throw error;
    }
  }

  async #fromLedger(
    changeId: string,
    problem: TemporalProblem & { kind: 'not_running' | 'workflow_failed' },
    cause: unknown,
  ): Promise<ReviewResult> {
    const recorded = await this.#recorded(changeId);
    if (recorded?.outcome != null) return toResult(changeId, recorded.outcome, this.trust);
    if (problem.kind === 'workflow_failed') return { state: 'ABORTED', verified: false, why: problem.message };
    if (recorded === null) throw notFound(changeId, cause);
    return {
      state: 'ABORTED',
      verified: false,
      why: 'Temporal no longer has the review, and the ledger has no outcome for it',
    };
  }

  /** Lists reviews from the ledger, newest first. Throws `ledger_unavailable`. */
  async list(filter: ListFilter = {}): Promise<ReviewPage> {
    const ledger = this.#ledger;
    if (ledger === null)
      throw new CountersignError(
        'ledger_unavailable',
        'Reviews cannot be listed without a ledger. Set `ledger` in the options of the client',
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
      parseInput(Sha256Hex, changeId, 'Pass the changeId that `submit` returned'),
    );
  }

  async #within<T>(timeoutMs: number, call: () => Promise<T>): Promise<T> {
    return await this.#temporal.withDeadline(Date.now() + timeoutMs, call);
  }

  /** Whether a run with this id exists. Throws `temporal_unavailable` if the server does not answer in time. */
  async #probe(changeId: string): Promise<'running' | 'closed' | 'unknown'> {
    const handle = this.#handle(changeId);
    try {
      const description = await this.#within(PROBE_TIMEOUT_MS, () => handle.describe());
      return description.status.name === 'RUNNING' ? 'running' : 'closed';
    } catch (error) {
      const problem = toTemporalProblem(error);
      if (problem.kind === 'not_running') return 'unknown';
      throw unavailable('Retry the call', messageOf(error), error);
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

  async #toError(
    changeId: string,
    problem: TemporalProblem,
    cause: unknown,
    whatToDo: string,
  ): Promise<CountersignError> {
    switch (problem.kind) {
      case 'not_running':
      case 'already_closed':
        return notFound(changeId, cause);
      case 'not_a_review':
        return new CountersignError('not_found', `Workflow ${changeId} is not a review: ${problem.message}`, { cause });
      case 'no_worker':
        return noWorker(changeId, whatToDo, cause);
      case 'timed_out':
        // If the server answers the probe, the worker caused the time-out.
        return (await this.#probe(changeId)) === 'unknown'
          ? notFound(changeId, cause)
          : noWorker(changeId, whatToDo, cause);
      case 'unreachable':
        return unavailable(whatToDo, problem.message, cause);
      case 'refused':
        return refusedBy(problem, cause);
      case 'workflow_failed':
      case 'other':
        return new CountersignError('internal', problem.message, { cause });
      default:
        return problem satisfies never;
    }
  }
}
