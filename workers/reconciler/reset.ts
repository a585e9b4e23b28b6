import type { Client } from '@temporalio/client';

/** `temporal.api.enums.v1.ResetReapplyExcludeType`. */
const SIGNALS = 1;
const UPDATES = 2;

/**
 * Resets a run to its last completed workflow task: what came after is discarded, and its activities run again. Messages that
 * came after are sent again, unless `withMessages` is false, because one of them may be what stops the run: their senders must
 * then send them again. Returns the id of the new run, or null if no workflow task of it has completed.
 */
export async function resetToLastGoodPoint(
  temporal: Client,
  workflowId: string,
  runId: string,
  withMessages: boolean,
): Promise<string | null> {
  const eventId = await lastCompletedTask(temporal, workflowId, runId);
  if (eventId === null) return null;
  const reset = await temporal.workflowService.resetWorkflowExecution({
    namespace: temporal.options.namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: eventId,
    resetReapplyExcludeTypes: withMessages ? [] : [SIGNALS, UPDATES],
    // The same request twice resets once.
    requestId: `countersign-reset-${runId}`,
    reason: 'Countersign: the workflow failed its task repeatedly',
  });
  return reset.runId;
}

type EventId = NonNullable<
  NonNullable<
    NonNullable<Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistory']>>['history']>['events']
  >[number]['eventId']
>;

/** Reads small pages and stops at one that cannot be decoded: an event that no worker can decode is what stops the run. */
async function lastCompletedTask(temporal: Client, workflowId: string, runId: string): Promise<EventId | null> {
  let last: EventId | null = null;
  let nextPageToken: Uint8Array | undefined;
  for (;;) {
    const page = await temporal.workflowService
      .getWorkflowExecutionHistory({
        namespace: temporal.options.namespace,
        execution: { workflowId, runId },
        maximumPageSize: 1,
        ...(nextPageToken === undefined ? {} : { nextPageToken }),
      })
      .catch((error: unknown) => {
        if (last === null) throw error;
        return null;
      });
    if (page === null) return last;
    for (const event of page.history?.events ?? [])
      if (event.workflowTaskCompletedEventAttributes != null && event.eventId != null) last = event.eventId;
    if (page.nextPageToken == null || page.nextPageToken.length === 0) return last;
    nextPageToken = page.nextPageToken;
  }
}
