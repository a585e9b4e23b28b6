import type { Worker } from '@temporalio/worker';
import { healthRoutes } from '../../gateway/health-routes';
import { PROBE_TIMEOUT_MS } from '../../gateway/readiness';
import { openDatabase } from '../../storage/database/database';
import type { Env } from '../config';
import { listen } from '../listen';
import type { Logger } from '../logger';
import { QUEUE_TYPES, POLLED_MS, pollAge } from '../pollers';
import type { HealthAddress } from '../process-env';
import { openClient } from '../temporal';
import type { Client } from '@temporalio/client';

/** The part of a worker that reports whether it runs. */
type RunningWorker = Pick<Worker, 'getState'> & {
  readonly options: Pick<Worker['options'], 'identity' | 'taskQueue'>;
};

export interface WorkerHealth {
  /** Until it is called, and after the worker stops, `/readyz` says that the worker is down. */
  watch(worker: RunningWorker): void;
  close(): Promise<void>;
}

/**
 * Serves the health of a worker process, from its start on. It has a connection to each service that activities do not use, so a busy
 * worker is not taken for one whose database is down.
 */
export async function startWorkerHealth(options: {
  readonly address: HealthAddress;
  readonly env: Env;
  readonly databaseUrl: string;
  readonly workflows: boolean;
  readonly logger: Pick<Logger, 'error'>;
}): Promise<WorkerHealth> {
  const { address, env, databaseUrl, workflows, logger } = options;
  const db = openDatabase({
    url: databaseUrl,
    applicationName: 'countersign-health',
    max: 1,
    connectTimeoutMs: PROBE_TIMEOUT_MS,
    statementTimeoutMs: PROBE_TIMEOUT_MS,
  });
  const temporal = openClient(env);
  const types = workflows ? (Object.keys(QUEUE_TYPES) as (keyof typeof QUEUE_TYPES)[]) : (['activity'] as const);
  const asked = <T>(call: () => Promise<T>): Promise<T> => temporal.withDeadline(Date.now() + PROBE_TIMEOUT_MS, call);
  let watched: RunningWorker | null = null;
  const polling = async (): Promise<void> => {
    if (watched?.getState() !== 'RUNNING') throw new Error('The worker does not run');
    const { identity, taskQueue } = watched.options;
    const queues = types.map((type) => ({ taskQueue, type }));
    await asked(() => assertPolls(temporal, identity, queues));
  };
  const routes = healthRoutes(
    {
      database: () => db.query('select 1'),
      temporal: () => asked(() => temporal.workflowService.getSystemInfo({})),
      polling,
    },
    Date.now,
    logger,
  );
  const server = await listen(routes, { ...address, variable: 'COUNTERSIGN_HEALTH_ADDRESS' });
  return {
    watch: (worker) => void (watched = worker),
    async close() {
      server.close();
      server.closeAllConnections();
      await temporal.connection.close();
      await db.close();
    },
  };
}

/** The server's default number of partitions of a task queue. It lists the pollers of each partition separately. */
const PARTITIONS = [0, 1, 2, 3] as const;

interface PolledQueue {
  readonly taskQueue: string;
  readonly type: keyof typeof QUEUE_TYPES;
}

/** Rejects unless the server lists a recent poll of this worker on each of the queues. */
async function assertPolls(temporal: Client, identity: string, queues: readonly PolledQueue[]): Promise<void> {
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
