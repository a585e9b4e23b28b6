import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { toTemporalProblem } from '../../client/temporal-errors';
import type { DueReview } from '../../storage/store/retention';

/** A temporary file of `replaceWhole` for the evidence of a change. */
const LEFTOVER = /^[0-9a-f]{64}\.json\.[0-9a-f]{12}\.tmp$/;
/** Another run may be writing a younger one. */
const OLD_MS = 60 * 60_000;

/** Removes what runs left that were killed while they wrote evidence: it contains diffs. */
export function removeLeftovers(dir: string): void {
  for (const name of readdirSync(dir)) {
    if (!LEFTOVER.test(name)) continue;
    const found = lstatSync(join(dir, name), { throwIfNoEntry: false });
    if (found?.isFile() === true && Date.now() - found.mtimeMs > OLD_MS) rmSync(join(dir, name), { force: true });
  }
}

/** For the requests about one review. */
export const HISTORY_TIMEOUT_MS = 15_000;

/** Deletes every closed run of these reviews. Returns the number of runs. */
export async function deleteHistories(temporal: Client, reviews: readonly DueReview[]): Promise<number> {
  let deleted = 0;
  for (const { changeId } of reviews)
    deleted += await temporal.withDeadline(Date.now() + HISTORY_TIMEOUT_MS, () => deleteRuns(temporal, changeId));
  return deleted;
}

async function deleteRuns(client: Client, workflowId: string): Promise<number> {
  let deleted = 0;
  for await (const { runId, status } of client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) {
    if (status.name === 'RUNNING') continue;
    try {
      await client.workflowService.deleteWorkflowExecution({
        namespace: client.options.namespace,
        workflowExecution: { workflowId, runId },
      });
      deleted += 1;
    } catch (error) {
      // The list lags behind: an earlier run deleted it.
      if (toTemporalProblem(error).kind !== 'not_running') throw error;
    }
  }
  return deleted;
}
