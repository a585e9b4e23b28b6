import type { WorkflowHandle } from '@temporalio/client';
import { RAN_AHEAD } from '../policy/contracts/messages';
import { retried } from '../workers/retried';

/** Queries a workflow, and repeats a query that was refused because it ran ahead of its workflow task. */
export function queryWorkflow<T>(handle: Pick<WorkflowHandle, 'query'>, name: string): Promise<T> {
  const ranAhead = (error: unknown): boolean => String(error).includes(RAN_AHEAD);
  return retried(() => handle.query<T>(name), ranAhead, { everyMs: 20 });
}
