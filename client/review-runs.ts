import type { Client, WorkflowHandle } from '@temporalio/client';
import { CountersignError, messageOf } from './errors';
import { neverOpened, noWorker, notFound, notOpened, refusedBy, unavailable } from './review-errors';
import { toTemporalProblem, type TemporalProblem } from './temporal-errors';

/** Time-out of the probe that finds the cause of another time-out. */
export const PROBE_TIMEOUT_MS = 2_000;

export type RunState = 'running' | 'closed' | 'unknown';

/** The workflow runs of reviews, as Temporal reports them. Every call has a time-out. */
export class ReviewRuns {
  readonly #temporal: Client;

  constructor(temporal: Client) {
    this.#temporal = temporal;
  }

  handle(changeId: string): WorkflowHandle {
    return this.#temporal.workflow.getHandle(changeId);
  }

  /** `signal` ends the call early. */
  async within<T>(timeoutMs: number, call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const bounded = (): Promise<T> => this.#temporal.withDeadline(Date.now() + timeoutMs, call);
    return await (signal === undefined ? bounded() : this.#temporal.withAbortSignal(signal, bounded));
  }

  /** Whether a run with this id exists. Throws `temporal_unavailable` if the server does not answer in time. */
  async probe(changeId: string): Promise<RunState> {
    try {
      const description = await this.within(PROBE_TIMEOUT_MS, () => this.handle(changeId).describe());
      return description.status.name === 'RUNNING' ? 'running' : 'closed';
    } catch (error) {
      const problem = toTemporalProblem(error);
      if (problem.kind === 'not_running') return 'unknown';
      throw unavailable('Retry the call', messageOf(error), error);
    }
  }

  /** The error for a review whose submission is not in the ledger. Throws as `probe` does. */
  async withoutSubmission(changeId: string): Promise<CountersignError> {
    const run = await this.probe(changeId);
    switch (run) {
      case 'running':
        return notOpened(changeId);
      case 'closed':
        return neverOpened(changeId);
      case 'unknown':
        return notFound(changeId, undefined);
      default:
        return run satisfies never;
    }
  }

  /** The message of a workflow that failed; null if it did not. */
  async failureOf(changeId: string): Promise<string | null> {
    try {
      await this.within(PROBE_TIMEOUT_MS, () => this.handle(changeId).result());
      return null;
    } catch (error) {
      const problem = toTemporalProblem(error);
      return problem.kind === 'workflow_failed' ? problem.message : null;
    }
  }

  async toError(
    changeId: string,
    problem: TemporalProblem,
    cause: unknown,
    whatToDo: string,
  ): Promise<CountersignError> {
    switch (problem.kind) {
      case 'not_running':
      case 'already_closed':
        return notFound(changeId, cause);
      case 'no_worker':
      case 'no_more_updates':
        return noWorker(changeId, whatToDo, cause);
      case 'timed_out':
        // If the server answers the probe, the worker caused the time-out.
        return (await this.probe(changeId)) === 'unknown'
          ? notFound(changeId, cause)
          : noWorker(changeId, whatToDo, cause);
      case 'unreachable':
        return unavailable(whatToDo, problem.message, cause);
      case 'refused':
        return refusedBy(problem, cause, whatToDo);
      case 'workflow_failed':
      case 'other':
        return new CountersignError('internal', problem.message, { cause });
      default:
        return problem satisfies never;
    }
  }
}
