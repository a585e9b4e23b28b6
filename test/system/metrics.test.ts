import { isGrpcServiceError, type Client } from '@temporalio/client';
import { GRPC } from '../../client/temporal-errors';
import { createGatewayMetrics } from '../../gateway/metrics';
import { REVIEW_WORKFLOW, TASK_QUEUES } from '../../policy/contracts/queues';
import { queueStates, serveMetrics } from '../../workers/serve-metrics';
import { openClient } from '../../workers/temporal';
import { eventually, retried } from '../support/eventually';
import { reusablePort } from '../support/listening-port';
import { newNamespace } from '../support/own-servers';
import { startTestPostgres, type TestPostgres } from '../support/postgres';

jest.setTimeout(120_000);
let postgres: TestPostgres;
let temporal: Client;
beforeAll(async () => {
  const { temporalAddress, namespace } = await newNamespace();
  temporal = openClient({ TEMPORAL_ADDRESS: temporalAddress, TEMPORAL_NAMESPACE: namespace });
  postgres = await startTestPostgres();
});
afterAll(async () => {
  await temporal.connection.close();
  await postgres.stop();
});

test('queues without workers have no poller, and a task waits until someone polls', async () => {
  const suffix = '-metrics';
  const taskQueue = TASK_QUEUES.review + suffix;
  // A busy server may not answer in time.
  const states = () =>
    retried(
      () => queueStates(temporal, suffix),
      (error) => isGrpcServiceError(error) && error.code === GRPC.DEADLINE_EXCEEDED,
    );
  const workflowQueue = async () => (await states())[0];
  await temporal.workflow.start(REVIEW_WORKFLOW, { workflowId: 'waits', taskQueue });
  await eventually('the backlog has the first task of the workflow', async () => {
    const state = await workflowQueue();
    return state?.backlog === 1 && state.pollers === 0;
  });
  expect((await states()).map(({ queue, type, pollers }) => [queue, type, pollers])).toEqual([
    ['review', 'workflow', 0],
    ['review', 'activity', 0],
    ['judge', 'activity', 0],
    ['commit', 'activity', 0],
  ]);
  const { namespace } = temporal.options;
  await temporal.withDeadline(Date.now() + 60_000, () =>
    temporal.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: taskQueue }, identity: 'one' }),
  );
  await eventually('the poller is counted, and the backlog is empty', async () => {
    const state = await workflowQueue();
    return state?.backlog === 0 && state.pollers === 1;
  });
});

test('the gateway serves the figures of reviews on its metrics port, with its own database role', async () => {
  const port = await reusablePort();
  const warned: unknown[] = [];
  const server = await serveMetrics({
    port,
    metrics: createGatewayMetrics(),
    databaseUrl: (await postgres.database()).url('cs_gateway'),
    temporal,
    queueSuffix: '-metrics',
    logger: { warn: (...facts: unknown[]) => void warned.push(facts) },
  });
  try {
    // A source that is slow on a busy machine is down in one scrape.
    const scrape = async () => {
      warned.length = 0;
      const scraped = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      expect(warned).toEqual([]);
      return scraped;
    };
    const text = await retried(scrape, undefined, { withinMs: 60_000 });
    for (const line of [
      'countersign_source_up{source="database"} 1',
      'countersign_source_up{source="temporal"} 1',
      'countersign_open_reviews{state="EFFECT_UNKNOWN"} 0',
      'countersign_queue_pollers{queue="commit",type="activity"} 0',
      'countersign_gateway_refused_total{why="answer"} 0',
    ])
      expect(text.split('\n')).toContain(line);
  } finally {
    await server.close();
  }
});
