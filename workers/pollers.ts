import type { temporal } from '@temporalio/proto';

/** Values of `temporal.api.enums.v1.TaskQueueType`. Only the review worker runs workflows; every worker has activities. */
export const QUEUE_TYPES = { workflow: 1, activity: 2 } as const;
/** The server ends a poll after at most 70 seconds, and the worker polls again. It lists a poller for five minutes. */
export const POLLED_MS = 120_000;
/** A value of `temporal.api.enums.v1.WorkerVersioningMode`. */
const VERSIONED = 2;

export type DescribedQueue = Pick<
  temporal.api.workflowservice.v1.IDescribeTaskQueueResponse,
  'pollers' | 'versioningInfo'
>;

/** Milliseconds since the last poll. */
export function pollAge({ lastAccessTime }: temporal.api.taskqueue.v1.IPollerInfo, now = Date.now()): number {
  return now - Number(lastAccessTime?.seconds ?? 0) * 1000;
}

/** The build id of the worker; null for one without worker versioning. */
export function pollBuild({ deploymentOptions }: temporal.api.taskqueue.v1.IPollerInfo): string | null {
  return deploymentOptions?.workerVersioningMode === VERSIONED ? deploymentOptions.buildId || null : null;
}
