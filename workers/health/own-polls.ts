import type { Client } from '@temporalio/client';
import { POLLED_MS, pollAge, QUEUE_TYPES } from '../pollers';

/** The server's default number of partitions of a task queue. It lists the pollers of each partition separately. */
const PARTITIONS = [0, 1, 2, 3] as const;

interface PolledQueue {
  readonly taskQueue: string;
  readonly type: keyof typeof QUEUE_TYPES;
}

/** Rejects unless the server lists a recent poll of this worker on each of the queues. */
export async function assertPolls(temporal: Client, identity: string, queues: readonly PolledQueue[]): Promise<void> {
  await Promise.all(
    queues.map(async (queue) => {
      for (const partition of PARTITIONS) if (await isPoller(temporal, identity, queue, partition)) return;
      throw new Error(`The server lists no recent poll of ${identity} on ${queue.taskQueue} (${queue.type})`);
    }),
  );
}

async function isPoller(
  temporal: Client,
  identity: string,
  { taskQueue, type }: PolledQueue,
  partition: (typeof PARTITIONS)[number],
): Promise<boolean> {
  const { pollers } = await temporal.workflowService.describeTaskQueue({
    namespace: temporal.options.namespace,
    taskQueue: { name: partition === 0 ? taskQueue : `/_sys/${taskQueue}/${partition}` },
    taskQueueType: QUEUE_TYPES[type],
  });
  return (pollers ?? []).some((poller) => poller.identity === identity && pollAge(poller) <= POLLED_MS);
}
