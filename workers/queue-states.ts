import type { Client } from '@temporalio/client';
import type { QueueState } from '../gateway/review-metrics';
import { TASK_QUEUES } from '../policy/contracts/queues';
import { POLLED_MS, pollAge, QUEUE_TYPES } from './pollers';

const TIMEOUT_MS = 3_000;
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
          taskQueueType: QUEUE_TYPES[type],
          reportStats: true,
        });
        const live = (pollers ?? []).filter((poller) => pollAge(poller) <= POLLED_MS);
        const backlog = stats?.approximateBacklogCount;
        return { queue, type, pollers: live.length, backlog: backlog == null ? null : Number(backlog) };
      }),
    ),
  );
}
