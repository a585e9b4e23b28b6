import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { temporal as proto } from '@temporalio/proto';

const { WorkflowTaskFailedCause, ResetReapplyType } = proto.api.enums.v1;

/** The worker sees it, or the server, which is told once more that an update was accepted. */
const DISAGREEMENTS: ReadonlySet<number> = new Set([
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_UPDATE_WORKFLOW_EXECUTION_MESSAGE,
]);

/**
 * What an operator does for a review whose history no longer replays (docs/decisions/0009): back to its last completed
 * workflow task, messages applied again. The ledger stands meanwhile, so nothing is lost and nothing happens twice. Returns
 * whether there was something to mend.
 */
export async function mend(client: Client, workflowId: string): Promise<boolean> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const at = events?.findLastIndex((event) => event.workflowTaskCompletedEventAttributes != null) ?? -1;
  const last = events?.[at]?.eventId;
  // After it: one that a later workflow task has got over needs no mend.
  const disagrees = events
    ?.slice(at + 1)
    .some((event) => DISAGREEMENTS.has(event.workflowTaskFailedEventAttributes?.cause ?? 0));
  if (last == null || disagrees !== true) return false;
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    reason: 'its history does not replay',
    workflowTaskFinishEventId: last,
    requestId: randomUUID(),
    resetReapplyType: ResetReapplyType.RESET_REAPPLY_TYPE_ALL_ELIGIBLE,
  });
  return true;
}
