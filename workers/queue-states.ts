import type { Client } from '@temporalio/client';
import type { QueueState } from '../gateway/review-metrics';
import { TASK_QUEUES } from '../policy/contracts/queues';

const TIMEOUT_MS = 3_000;
/** The server ends a poll after at most 70 seconds, and the worker polls again. */
const POLLED_MS = 120_000;
/** Values of `temporal.api.enums.v1.TaskQueueType`. Only the review worker runs workflows. */
const TYPES = { workflow: 1, activity: 2 } as const;
const ASKED = [
  { queue: 'review', type: 'workflow' },
  { queue: 'review', type: 'activity' },
  { queue: 'judge', type: 'activity' },
  { queue: 'commit', type: 'activity' },
] as const;

/** Live pollers and backlog of the task queues with this suffix. Rejects if the server does not answer in time. */
export async function queueStates(temporal: Client, suffix: string): Promise<readonly QueueState[]> {
  return await temporal.withDeadline(Date.now() + TIMEOUT_MS, () =>
    Promise.all(
      ASKED.map(async ({ queue, type }): Promise<QueueState> => {
        const { pollers, stats } = await temporal.workflowService.describeTaskQueue({
          namespace: temporal.options.namespace,
          taskQueue: { name: TASK_QUEUES[queue] + suffix },
          taskQueueType: TYPES[type],
          reportStats: true,
        });
        const live = (pollers ?? []).filter(
          ({ lastAccessTime }) => Date.now() - Number(lastAccessTime?.seconds ?? 0) * 1000 <= POLLED_MS,
        );
        const backlog = stats?.approximateBacklogCount;
        return { queue, type, pollers: live.length, backlog: backlog == null ? null : Number(backlog) };
      }),
    ),
  );
}
