import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { temporal as proto } from '@temporalio/proto';

const { WorkflowTaskFailedCause, ResetReapplyType } = proto.api.enums.v1;

/** A diverged history is detected by the worker, or by the server when the worker accepts the same update twice. */
const DIVERGED: ReadonlySet<number> = new Set([
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_UPDATE_WORKFLOW_EXECUTION_MESSAGE,
]);

/**
 * Resets a workflow whose history no longer replays to its last completed workflow task and reapplies its messages, as an
 * operator would (docs/decisions/0009). Safe because the ledger is kept: nothing is lost and nothing is applied twice.
 * Returns false if the history has not diverged.
 */
export async function resetDiverged(client: Client, workflowId: string): Promise<boolean> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const at = events?.findLastIndex((event) => event.workflowTaskCompletedEventAttributes != null) ?? -1;
  const last = events?.[at]?.eventId;
  // Only failures after the last completed task: earlier ones were resolved by a later task.
  const diverged = events
    ?.slice(at + 1)
    .some((event) => DIVERGED.has(event.workflowTaskFailedEventAttributes?.cause ?? 0));
  if (last == null || diverged !== true) return false;
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    reason: 'the history does not replay',
    workflowTaskFinishEventId: last,
    requestId: randomUUID(),
    resetReapplyType: ResetReapplyType.RESET_REAPPLY_TYPE_ALL_ELIGIBLE,
  });
  return true;
}
