import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { temporal as proto } from '@temporalio/proto';

const { WorkflowTaskFailedCause, ResetReapplyType } = proto.api.enums.v1;

/**
 * What an operator does for a review whose history no longer replays (docs/decisions/0009): back to its last completed
 * workflow task, messages applied again. The ledger stands meanwhile, so nothing is lost and nothing happens twice. Returns
 * whether there was something to mend.
 */
export async function mend(client: Client, workflowId: string): Promise<boolean> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const disagreed = events?.some(
    (event) =>
      event.workflowTaskFailedEventAttributes?.cause ===
      WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR,
  );
  const last = events?.findLast((event) => event.workflowTaskCompletedEventAttributes != null)?.eventId;
  if (disagreed !== true || last == null) return false;
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
