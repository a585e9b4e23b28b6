import { Worker } from '@temporalio/worker';
import type { History } from './history';

/** A name of a review queue. The default name of a replay worker is not one, and the workflow derives other queues from it. */
const REPLAY_NAME = 'countersign-review-replay';

/** Throws if the code would have issued other commands than the history contains. */
export async function replay(
  bundle: { readonly code: string } | { readonly codePath: string },
  history: History,
  workflowId: string,
): Promise<void> {
  await Worker.runReplayHistory({ workflowBundle: bundle, replayName: REPLAY_NAME }, history, workflowId);
}
