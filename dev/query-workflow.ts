import type { WorkflowHandle } from '@temporalio/client';
import { RAN_AHEAD } from '../policy/contracts/messages';

/** Queries a workflow, and repeats a query that was refused because it ran ahead of its workflow task. */
export async function queryWorkflow<T>(handle: Pick<WorkflowHandle, 'query'>, name: string): Promise<T> {
  for (;;) {
    try {
      return await handle.query<T>(name);
    } catch (error) {
      if (!String(error).includes(RAN_AHEAD)) throw error;
    }
  }
}
