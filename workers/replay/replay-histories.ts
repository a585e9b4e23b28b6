import type { Client } from '@temporalio/client';
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import type { temporal } from '@temporalio/proto';
import { z } from 'zod';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import { cutExplanation } from '../../policy/text/cut-text';
import { keyMissingFor } from '../encryption/unreadable-event';
import { OutageWatch, readFailure } from './outage';

/**
 * The newest history of one review, replayed with the workflow code of this process.
 *
 * - `damaged`: the code would have done something else. A worker that loses its cache cannot go on with such a run.
 * - `skipped`: Temporal no longer has it, it is too large, it belongs to another build, or to another type of workflow.
 * - `failed`: it could not be read or replayed for another reason, such as a payload that cannot be decrypted here.
 */
export const Replayed = z.strictObject({
  changeId: z.string(),
  runId: z.string().nullable(),
  result: z.enum(['replays', 'damaged', 'skipped', 'failed']),
  /** For people; empty for a history that replays. */
  why: z.string(),
});
export type Replayed = z.infer<typeof Replayed>;

interface ReplayOptions {
  readonly client: Client;
  readonly changeIds: AsyncIterable<string> | Iterable<string>;
  readonly worker: Pick<ReplayWorkerOptions, 'dataConverter'> & { readonly workflowBundle: { readonly code: string } };
  /** A history of another build is skipped, because its workers have other code. Null: only histories without a build id. */
  readonly buildId: string | null;
  readonly workflowType: string;
}

const MAX_HISTORY_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
/** The workflow derives the names of other queues from it. */
const REPLAY_NAME = `${TASK_QUEUES.review}-replay`;

type History = temporal.api.history.v1.IHistory;

/**
 * Replays one history at a time, in order. Reads from Temporal, and writes nothing. Throws if the server does not answer for several
 * reviews in a row, or for none.
 */
export async function* replayHistories(options: ReplayOptions): AsyncGenerator<Replayed> {
  const unreplayed: Replayed[] = [];
  const replaying = new Map<string, History>();
  const results = Worker.runReplayHistories(
    { ...options.worker, replayName: REPLAY_NAME },
    readHistories(options, unreplayed, replaying),
  );
  for await (const { workflowId, runId, error } of results) {
    yield* unreplayed.splice(0);
    const history = replaying.get(workflowId);
    replaying.delete(workflowId);
    const of = { changeId: workflowId, runId };
    if (error === undefined) yield { ...of, result: 'replays', why: '' };
    else yield { ...of, ...(await failureOf(error, history, options)) };
  }
  yield* unreplayed;
}

/** Without a key the workflow does something else than its history, and yet that is not damaged. */
async function failureOf(
  error: Error,
  history: History | undefined,
  { worker }: ReplayOptions,
): Promise<Pick<Replayed, 'result' | 'why'>> {
  for (const event of history?.events ?? []) {
    const keyId = await keyMissingFor(event, worker.dataConverter?.payloadCodecs);
    if (keyId !== null)
      return {
        result: 'failed',
        why: `it cannot be decrypted here: COUNTERSIGN_PAYLOAD_KEYS_FILE must have the key ${JSON.stringify(keyId)} with which it was encrypted`,
      };
  }
  const damaged = error.name === 'DeterminismViolationError';
  return { result: damaged ? 'damaged' : 'failed', why: cutExplanation(error.message) };
}

async function* readHistories(
  options: ReplayOptions,
  unreplayed: Replayed[],
  replaying: Map<string, History>,
): AsyncGenerator<{ readonly workflowId: string; readonly history: History }> {
  const outage = new OutageWatch();
  for await (const changeId of options.changeIds) {
    const read = await readHistory(options, changeId, outage);
    if ('history' in read) {
      replaying.set(changeId, read.history);
      yield { workflowId: changeId, history: read.history };
    } else unreplayed.push(read);
  }
  outage.end();
}

async function readHistory(
  { client, buildId, workflowType }: ReplayOptions,
  changeId: string,
  outage: OutageWatch,
): Promise<{ readonly history: History } | Replayed> {
  const skip = (runId: string | null, why: string): Replayed => ({ changeId, runId, result: 'skipped', why });
  try {
    const read = await client.withDeadline(Date.now() + TIMEOUT_MS, async () => {
      const { runId, type, historySize = 0 } = await client.workflow.getHandle(changeId).describe();
      if (type !== workflowType) return skip(runId, `a workflow of type ${JSON.stringify(type.slice(0, 60))}`);
      if (historySize > MAX_HISTORY_BYTES) return skip(runId, `larger than ${MAX_HISTORY_BYTES} bytes`);
      const history = await client.workflow.getHandle(changeId, runId).fetchHistory();
      const build = buildOf(history);
      return build === buildId ? { history } : skip(runId, build === null ? 'without a build id' : `of build ${build}`);
    });
    outage.answered();
    return read;
  } catch (error) {
    const failure = readFailure(error);
    outage.failed(failure);
    if (failure.kind === 'gone') return skip(null, failure.why);
    return { changeId, runId: null, result: 'failed', why: cutExplanation(`could not be read: ${failure.why}`) };
  }
}

/** The build that completed the last workflow task; null without worker versioning, or before the first task. */
function buildOf({ events }: History): string | null {
  const last = (events ?? []).findLast((event) => event.workflowTaskCompletedEventAttributes != null);
  const build = last?.workflowTaskCompletedEventAttributes?.deploymentVersion?.buildId;
  return build === undefined || build === null || build === '' ? null : build;
}
