import type { Client } from '@temporalio/client';
import { type GatewayMetrics, createMetricsApp } from '../gateway/metrics';
import { COUNTED_KINDS, ReviewMetrics, type QueueState } from '../gateway/review-metrics';
import { openDatabase } from '../storage/database/database';
import { oldestUncovered } from '../storage/ledger/oldest-uncovered';
import { openReviews } from '../storage/ledger/open-reviews';
import { LedgerTail } from '../storage/ledger/tail';
import { listen } from './listen';
import type { Logger } from './logger';
import { TASK_QUEUES } from '../policy/contracts/queues';
import { POLLED_MS, pollAge, QUEUE_TYPES } from './pollers';

const QUERY_TIMEOUT_MS = 2_000;

/** Serves the metrics of the gateway and of reviews on loopback. Their queries have a database connection that requests do not use. */
export async function serveMetrics(options: {
  readonly port: number;
  readonly metrics: GatewayMetrics;
  readonly databaseUrl: string;
  readonly temporal: Client;
  readonly queueSuffix: string;
  readonly logger: Pick<Logger, 'warn'>;
}): Promise<{ readonly close: () => Promise<void> }> {
  const { port, metrics, databaseUrl, temporal, queueSuffix, logger } = options;
  const db = openDatabase({
    url: databaseUrl,
    applicationName: 'countersign-metrics',
    max: 1,
    connectTimeoutMs: QUERY_TIMEOUT_MS,
    statementTimeoutMs: QUERY_TIMEOUT_MS,
  });
  const tail = new LedgerTail({ db, kinds: COUNTED_KINDS, now: Date.now });
  const reviews = new ReviewMetrics(metrics.registry, {
    openReviews: () => openReviews(db),
    oldestUncovered: () => oldestUncovered(db),
    nextRows: () => tail.next(),
    queues: () => queueStates(temporal, queueSuffix),
    now: Date.now,
    log: logger,
  });
  // Rows count from the start of the process, not from the first scrape.
  void reviews.refresh();
  const app = createMetricsApp(metrics, () => reviews.refresh());
  const server = await listen(app, { hostname: '127.0.0.1', port, variable: 'COUNTERSIGN_METRICS_PORT' });
  return {
    async close() {
      server.close();
      server.closeAllConnections();
      await db.close();
    },
  };
}

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
