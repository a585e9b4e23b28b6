import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import type { temporal } from '@temporalio/proto';
import { z } from 'zod';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import { cutExplanation } from '../../policy/text/cut-text';

/**
 * The newest history of one review, replayed with the workflow code of this process.
 *
 * - `damaged`: the code would have done something else. A worker that loses its cache cannot go on with such a run.
 * - `skipped`: Temporal no longer has it, it is too large, it belongs to another build, or to another type of workflow.
 * - `failed`: it could not be replayed for another reason, such as a payload that cannot be decrypted here.
 */
export const Replayed = z.strictObject({
  changeId: z.string(),
  runId: z.string().nullable(),
  result: z.enum(['replays', 'damaged', 'skipped', 'failed']),
  /** For people; empty for a history that replays. */
  why: z.string(),
});
export type Replayed = z.infer<typeof Replayed>;

export interface ReplayOptions {
  readonly client: Client;
  readonly changeIds: AsyncIterable<string> | Iterable<string>;
  readonly worker: Pick<ReplayWorkerOptions, 'dataConverter'> & { readonly workflowBundle: { readonly code: string } };
  /** COUNTERSIGN_BUILD_ID of this process; a history of another build is skipped, because its workers have other code. */
  readonly buildId: string | null;
  readonly workflowType: string;
}

const MAX_HISTORY_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
/** The workflow derives the names of other queues from it. */
const REPLAY_NAME = `${TASK_QUEUES.review}-replay`;

type History = temporal.api.history.v1.IHistory;

/** Replays one history at a time, in order. Reads from Temporal, and writes nothing. */
export async function* replayHistories(options: ReplayOptions): AsyncGenerator<Replayed> {
  const skipped: Replayed[] = [];
  const results = Worker.runReplayHistories(
    { ...options.worker, replayName: REPLAY_NAME },
    readHistories(options, skipped),
  );
  for await (const { workflowId, runId, error } of results) {
    yield* skipped.splice(0);
    const of = { changeId: workflowId, runId };
    if (error === undefined) yield { ...of, result: 'replays', why: '' };
    else {
      const damaged = error.name === 'DeterminismViolationError';
      yield { ...of, result: damaged ? 'damaged' : 'failed', why: cutExplanation(error.message) };
    }
  }
  yield* skipped;
}

async function* readHistories(
  { client, changeIds, buildId, workflowType }: ReplayOptions,
  skipped: Replayed[],
): AsyncGenerator<{ readonly workflowId: string; readonly history: History }> {
  for await (const changeId of changeIds) {
    const skip = (runId: string | null, why: string): void =>
      void skipped.push({ changeId, runId, result: 'skipped', why });
    try {
      const read = await client.withDeadline(Date.now() + TIMEOUT_MS, async () => {
        const { runId, type, historySize = 0 } = await client.workflow.getHandle(changeId).describe();
        if (type !== workflowType) return { runId, why: `a workflow of type ${JSON.stringify(type.slice(0, 60))}` };
        if (historySize > MAX_HISTORY_BYTES) return { runId, why: `larger than ${MAX_HISTORY_BYTES} bytes` };
        const history = await client.workflow.getHandle(changeId, runId).fetchHistory();
        const build = buildOf(history);
        return build === buildId ? { runId, history } : { runId, why: `of the build ${build ?? 'without an id'}` };
      });
      if (read.history === undefined) skip(read.runId, read.why);
      else yield { workflowId: changeId, history: read.history };
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      skip(null, 'Temporal no longer has it');
    }
  }
}

/** The build that completed the last workflow task; null without worker versioning, or before the first task. */
function buildOf({ events }: History): string | null {
  const last = (events ?? []).findLast((event) => event.workflowTaskCompletedEventAttributes != null);
  const build = last?.workflowTaskCompletedEventAttributes?.deploymentVersion?.buildId;
  return build === undefined || build === null || build === '' ? null : build;
}
