import type { Client } from '@temporalio/client';
import type { GatewayMetrics } from '../gateway/metrics';
import { createMetricsApp } from '../gateway/metrics-app';
import { COUNTED_KINDS, ReviewMetrics } from '../gateway/review-metrics';
import { openDatabase } from '../storage/database/database';
import { openReviews } from '../storage/ledger/open-reviews';
import { LedgerTail } from '../storage/ledger/tail';
import { listen } from './listen';
import type { Logger } from './logger';
import { queueStates } from './queue-states';

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
