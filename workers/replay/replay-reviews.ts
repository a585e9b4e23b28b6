import type { Client } from '@temporalio/client';
import { REVIEW_WORKFLOW } from '../../policy/contracts/queues';
import type { Env } from '../config';
import { dataConverter } from '../temporal';
import { workflowBundle } from '../workflow-bundle';
import { installQuietRuntime } from './quiet-runtime';
import { replayHistories, type Replayed } from './replay-histories';

/** The build whose histories a process replays. */
export function ownBuild(env: Env): string | null {
  return env['COUNTERSIGN_BUILD_ID'] || null;
}

/** Replays the histories of these reviews with the workflow code and the encryption keys of this process, one after the other. */
export async function* replayReviews(
  env: Env,
  client: Client,
  changeIds: readonly string[],
  buildId: string | null,
): AsyncGenerator<Replayed> {
  installQuietRuntime();
  yield* replayHistories({
    client,
    changeIds,
    worker: { workflowBundle: { code: await workflowBundle() }, ...dataConverter(env) },
    buildId,
    workflowType: REVIEW_WORKFLOW,
  });
}
