import type { Client } from '@temporalio/client';
import { temporal as proto } from '@temporalio/proto';
import { keyMissingFor } from '../encryption/unreadable-event';

const { ResetReapplyExcludeType, WorkflowTaskFailedCause } = proto.api.enums.v1;

/** What stops a run, by its history. */
export interface Stopped {
  /**
   * `diverged`: the history does not replay. The worker reports it, or the server, if the worker accepts an update twice.
   * `other`: for example, a message that no worker can decode.
   */
  readonly why: 'diverged' | 'other';
  /** The event that the worker named as the one that does not fit; null if it named none. */
  readonly eventId: number | null;
  /** Ids of the events WorkflowTaskCompleted, ascending: the points to which the run can be reset. */
  readonly points: readonly number[];
  /** The first event that cannot be decrypted here, with the key that is missing; null if all can be. */
  readonly unreadable: { readonly eventId: number; readonly keyId: string } | null;
}

const DIVERGED: ReadonlySet<number> = new Set([
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_BAD_UPDATE_WORKFLOW_EXECUTION_MESSAGE,
]);

/** Reads the history of a run up to its end, or up to the first event that cannot be decoded. */
export async function stoppedBy(client: Client, workflowId: string, runId: string): Promise<Stopped> {
  const points: number[] = [];
  let unreadable: Stopped['unreadable'] = null;
  let failed: proto.api.history.v1.IWorkflowTaskFailedEventAttributes | null = null;
  for await (const event of eventsOf(client, workflowId, runId)) {
    if (unreadable === null) {
      const keyId = await keyMissingFor(event, client.options.loadedDataConverter.payloadCodecs);
      if (keyId !== null) unreadable = { eventId: Number(event.eventId), keyId };
    }
    if (event.workflowTaskCompletedEventAttributes != null) {
      points.push(Number(event.eventId));
      // The failures before it were resolved by this task.
      failed = null;
    }
    failed = event.workflowTaskFailedEventAttributes ?? failed;
  }
  const named = /HistoryEvent\(id: (\d+)/.exec(failed?.failure?.message ?? '')?.[1];
  return {
    why: DIVERGED.has(failed?.cause ?? 0) ? 'diverged' : 'other',
    eventId: named === undefined ? null : Number(named),
    points,
    unreadable,
  };
}

/**
 * The last point before the event that the worker named: everything up to it has replayed. If it named none, the last point. A run
 * that was reset does not have the point that it was reset to, so a second reset goes one point further back, unless the run went on.
 */
export function resetPoint({ eventId, points }: Stopped): number | null {
  return points.findLast((point) => point < (eventId ?? Infinity)) ?? null;
}

/**
 * Resets a run to a workflow task: what came after is discarded, and its activities run again. Messages that came after are sent
 * again, unless `withMessages` is false, because one of them may be what stops the run: their senders must then send them again.
 * Returns the id of the new run.
 */
export async function resetTo(
  client: Client,
  workflowId: string,
  runId: string,
  point: number,
  withMessages: boolean,
): Promise<string> {
  const { RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL: signals, RESET_REAPPLY_EXCLUDE_TYPE_UPDATE: updates } =
    ResetReapplyExcludeType;
  const reset = await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: point as never,
    resetReapplyExcludeTypes: withMessages ? [] : [signals, updates],
    // The same request twice resets once.
    requestId: `countersign-reset-${runId}`,
    reason: 'Countersign: the workflow failed its task repeatedly',
  });
  return reset.runId;
}

/**
 * Reads up to the first event that cannot be decoded, because it may be what stops the run: from a page that fails on, event by event.
 * Throws if the first event fails.
 */
async function* eventsOf(
  client: Client,
  workflowId: string,
  runId: string,
): AsyncGenerator<proto.api.history.v1.IHistoryEvent> {
  let nextPageToken: Uint8Array | undefined;
  let maximumPageSize = 100;
  for (;;) {
    let page: proto.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse;
    try {
      page = await client.workflowService.getWorkflowExecutionHistory({
        namespace: client.options.namespace,
        execution: { workflowId, runId },
        maximumPageSize,
        ...(nextPageToken === undefined ? {} : { nextPageToken }),
      });
    } catch (error) {
      if (maximumPageSize === 1) {
        if (nextPageToken === undefined) throw error;
        return;
      }
      maximumPageSize = 1;
      continue;
    }
    yield* page.history?.events ?? [];
    if (page.nextPageToken == null || page.nextPageToken.length === 0) return;
    nextPageToken = page.nextPageToken;
  }
}
