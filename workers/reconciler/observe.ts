import { isGrpcServiceError, type Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { GRPC } from '../../client/temporal-errors';
import { FailureType } from '../../policy/contracts/failure-type';
import { pollAge, QUEUE_TYPES } from '../pollers';

/** What Temporal says about the workflow of one review. */
export type Observation =
  | { readonly state: 'missing' }
  | { readonly state: 'closed'; readonly how: ClosedAs; readonly type: string; readonly runId: string }
  | {
      readonly state: 'running';
      readonly type: string;
      readonly runId: string;
      readonly taskQueue: string;
      /** Events of the history: it grows only if a workflow task completes or something arrives. */
      readonly events: number;
      /** Attempts of the pending workflow task; 0 if none is pending. */
      readonly attempts: number;
      /** Search attribute `TemporalReportedProblems`, which servers from 1.30 set; null if absent. */
      readonly problems: string | null;
      /** The reason of the last refusal if the committer keeps refusing to end the review as the workflow asks; else null. */
      readonly refusedEnd: string | null;
      /** The committer is asked to commit or to end the review. */
      readonly ending: boolean;
    };
type ClosedAs = 'completed' | 'failed' | 'cancelled' | 'terminated' | 'timed_out' | 'closed';

/** Statuses of `temporal.api.enums.v1.WorkflowExecutionStatus`. */
const RUNNING = 1;
const CLOSED: Readonly<Record<number, ClosedAs>> = {
  2: 'completed',
  3: 'failed',
  4: 'cancelled',
  5: 'terminated',
  7: 'timed_out',
};

/** Describes the newest run with this id. */
export async function observe(client: Client, workflowId: string): Promise<Observation> {
  try {
    const {
      workflowExecutionInfo: info,
      pendingWorkflowTask,
      pendingActivities,
    } = await client.workflowService.describeWorkflowExecution({
      namespace: client.options.namespace,
      execution: { workflowId },
    });
    if (info == null) throw new Error(`The server described no workflow ${workflowId}`);
    const type = info.type?.name ?? '';
    const runId = info.execution?.runId ?? '';
    if (info.status !== RUNNING) return { state: 'closed', how: CLOSED[info.status ?? 0] ?? 'closed', type, runId };
    const reported = info.searchAttributes?.indexedFields?.['TemporalReportedProblems'];
    return {
      state: 'running',
      type,
      runId,
      taskQueue: info.taskQueue ?? '',
      events: Number(info.historyLength ?? 0),
      attempts: pendingWorkflowTask?.attempt ?? 0,
      refusedEnd: refusedEndOf(pendingActivities ?? []),
      ending: (pendingActivities ?? []).some(({ activityType }) => [...ENDS, 'commit'].includes(activityType?.name)),
      problems: reported == null ? null : JSON.stringify(defaultPayloadConverter.fromPayload(reported)).slice(0, 500),
    };
  } catch (error) {
    // With a wrong namespace, all workflows would be missing.
    if (isGrpcServiceError(error) && error.code === GRPC.NOT_FOUND && !/^namespace\b/i.test(error.details))
      return { state: 'missing' };
    throw error;
  }
}

/** Activities that end a review. The committer refuses them with a retryable VALIDATION_ERROR while the rows support no end. */
const ENDS: readonly unknown[] = ['rollback', 'reconcile'];
/** Fewer are normal: the clocks of Temporal and of the committer can differ at a deadline. */
const MIN_REFUSALS = 3;

function refusedEndOf(pending: readonly temporal.api.workflow.v1.IPendingActivityInfo[]): string | null {
  const refused = pending.find(
    ({ activityType, attempt, lastFailure }) =>
      ENDS.includes(activityType?.name) &&
      (attempt ?? 0) > MIN_REFUSALS &&
      lastFailure?.applicationFailureInfo?.type === FailureType.Validation,
  );
  return refused === undefined ? null : (refused.lastFailure?.message ?? '').slice(0, 500);
}

/** Whether a worker polled this workflow queue within `withinMs`. */
export async function hasPollers(client: Client, taskQueue: string, withinMs: number): Promise<boolean> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: QUEUE_TYPES.workflow,
  });
  return (pollers ?? []).some((poller) => pollAge(poller) < withinMs);
}
