import { Worker } from '@temporalio/worker';
import type { History } from './history';

/** As a family of queues: a replay worker's own name is no review queue, and the workflow asks for its siblings. */
const REPLAY_NAME = 'countersign-review-replay';

/** Throws where the code would have done otherwise than the history says. */
export async function replay(
  bundle: { readonly code: string } | { readonly codePath: string },
  history: History,
  workflowId: string,
): Promise<void> {
  await Worker.runReplayHistory({ workflowBundle: bundle, replayName: REPLAY_NAME }, history, workflowId);
}
