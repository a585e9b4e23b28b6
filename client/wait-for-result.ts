import type { WorkflowOutcome } from '../policy/contracts/outcome';
import type { ReviewStatus } from '../policy/contracts/status';
import type { Evidence } from '../policy/evidence/bundle';
import type { ClientLedger } from './ports';
import { hasRoots, readResult } from './read-review';
import type { ReceiptTrust } from './receipt';
import { toWorkflowResult, type ReviewResult } from './result';
import type { Waiting } from './review-calls';
import { fromLedger, notFound } from './review-errors';
import { PROBE_TIMEOUT_MS, type ReviewRuns } from './review-runs';
import { toTemporalProblem } from './temporal-errors';

/** A waiting call reads again after this time, also without a notification. Until the ledger opens the review, it asks Temporal as often. */
const READ_AGAIN_MS = 5_000;

interface Source {
  readonly runs: ReviewRuns;
  readonly ledger: ClientLedger;
  readonly trust: ReceiptTrust | null;
}

/** The review that is waited for, read again with each call. */
interface Reading {
  readonly bundle: () => Promise<Evidence>;
  readonly status: () => Promise<ReviewStatus>;
}

export async function resultFromLedger(
  source: Source,
  reading: Reading,
  changeId: string,
  { timeoutMs = 0, signal }: Waiting,
): Promise<ReviewResult> {
  const { ledger } = source;
  const ended = async (): Promise<boolean | null> =>
    (await fromLedger(() => ledger.summary(changeId), 'The review cannot be read'))?.ended ?? null;
  const until = performance.now() + timeoutMs;
  let nextProbe = 0;
  const watch = await ledger.watch(changeId);
  const stop = (): void => watch.close();
  signal?.addEventListener('abort', stop);
  try {
    for (;;) {
      const state = await ended();
      if (state === true) return await endedResult(source, reading, changeId);
      const opened = state !== null;
      // Each row wakes this loop. Temporal is asked at a steady pace instead, and before it is PENDING.
      if (!opened && performance.now() >= Math.min(nextProbe, until)) {
        nextProbe = performance.now() + READ_AGAIN_MS;
        const aborted = await abortedResult(source.runs, changeId);
        if (aborted !== null) {
          // The review may have been opened between the two reads.
          if ((await ended()) === null) return aborted;
          continue;
        }
      }
      const left = signal?.aborted === true ? 0 : until - performance.now();
      if (left <= 0)
        return { state: 'PENDING', status: opened && hasRoots(source.trust) ? await reading.status() : null };
      await watch.next(Math.min(left, READ_AGAIN_MS));
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    watch.close();
  }
}

async function endedResult({ trust }: Source, { bundle }: Reading, changeId: string): Promise<ReviewResult> {
  const why = 'The review has ended, but the ledger has no readable receipt';
  return readResult(changeId, await bundle(), trust) ?? { state: 'ABORTED', verified: false, why };
}

/** For a review that the ledger has not opened. Null while a run is open. Throws `not_found` if Temporal does not have it either. */
async function abortedResult(runs: ReviewRuns, changeId: string): Promise<ReviewResult | null> {
  const run = await runs.probe(changeId);
  if (run === 'running') return null;
  if (run === 'unknown') throw notFound(changeId, undefined);
  const why = (await runs.failureOf(changeId)) ?? 'The workflow has ended, and the ledger never opened the review';
  return { state: 'ABORTED', verified: false, why };
}

/** For a client without a ledger: what the workflow returned, `verified` only by its receipt. */
export async function resultOfWorkflow(
  runs: ReviewRuns,
  trust: ReceiptTrust | null,
  changeId: string,
  { timeoutMs = 0, signal }: Waiting,
): Promise<ReviewResult> {
  if (timeoutMs <= 0 && (await runs.probe(changeId)) === 'running') return { state: 'PENDING', status: null };
  try {
    const outcome = await runs.within(
      Math.max(timeoutMs, PROBE_TIMEOUT_MS),
      () => runs.handle(changeId).result() as Promise<WorkflowOutcome>,
      signal,
    );
    return toWorkflowResult(changeId, outcome, trust);
  } catch (error) {
    const problem = toTemporalProblem(error);
    if (problem.kind === 'timed_out') return { state: 'PENDING', status: null };
    if (problem.kind === 'workflow_failed') return { state: 'ABORTED', verified: false, why: problem.message };
    throw await runs.toError(changeId, problem, error, 'Retry the call');
  }
}
