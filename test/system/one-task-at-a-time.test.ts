import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { RAN_AHEAD } from '../../policy/contracts/messages';
import { refuseQuery } from '../../workers/screen/dispose';
import { startScreeningProxy } from '../../workers/screen/screening-proxy';
import { eventually } from '../support/eventually';
import { quietRuntime } from '../support/local-workers';
import { startPollProxy } from '../support/poll-proxy';
import { replay } from '../support/replay';
import { testWorkflowBundle } from '../support/test-workflow-bundle';

jest.setTimeout(120_000);

const address = (): string => process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '';
const namespace = process.env['COUNTERSIGN_TEST_NAMESPACE'] ?? 'default';
const suffix = `${process.pid}-${Date.now().toString(36)}`;

let connection: Connection;
let client: Client;
let workflowBundle: Awaited<ReturnType<typeof testWorkflowBundle>>;

beforeAll(async () => {
  quietRuntime('ERROR');
  connection = await Connection.connect({ address: address() });
  client = new Client({ connection, namespace });
  workflowBundle = await testWorkflowBundle();
});
afterAll(() => connection.close());

/** Passes all calls to `upstream`, with our screening or without. */
async function connect(upstream: string, isScreened: boolean) {
  const through = isScreened
    ? await startScreeningProxy({
        upstream: `http://${upstream}`,
        tls: {},
        onPoisoned: () => {},
        onRefusedQuery: (task) => void refuseQuery(task, client, console),
        onError: () => {},
      })
    : { address: upstream, metadata: {}, close: async () => {} };
  const native = await NativeConnection.connect({ address: through.address, metadata: through.metadata });
  return {
    native,
    async close() {
      await native.close();
      await through.close();
    },
  };
}

function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** A query reaches the worker while a local activity of the same run is running. */
async function queryBesideLocalActivity(isScreened: boolean) {
  const proxy = await startPollProxy(address());
  const { native, close } = await connect(proxy.address, isScreened);
  const taskQueue = `one-task-${suffix}-${String(isScreened)}`;
  const [first, slow] = [gate(), gate()];
  const began: string[] = [];
  const step = async (name: string): Promise<string> => {
    began.push(name);
    if (name === 'first') await first.opened;
    if (name === 'slow') await slow.opened;
    return `${name} ended`;
  };
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue,
    workflowBundle,
    activities: { step },
  });
  const ended = worker.run();
  try {
    const handle = await client.workflow.start('localSteps', { taskQueue, workflowId: taskQueue, args: [] as [] });
    await eventually('the first activity runs', () => began.includes('first'));
    const passQueries = proxy.holdQueries();
    const asked = handle.query<string[]>('status').then(String, String);
    await eventually('the query is polled', () => proxy.polled.some(({ isQuery }) => isQuery));
    first.open();
    await eventually('the local activity runs', () => began.includes('slow'));
    passQueries();
    const answer = await asked;
    const updated = handle.executeUpdate('answer', { args: ['update'] });
    // Longer than the time-out of a workflow task. With 3 s for it, a busy machine would not extend it in time.
    await sleep(12_000);
    slow.open();
    await Promise.all([updated, handle.result()]);
    const history = await handle.fetchHistory();
    const timeouts = (history.events ?? []).filter((event) => event.workflowTaskTimedOutEventAttributes != null).length;
    return { answer, timeouts, history, id: taskQueue };
  } finally {
    first.open();
    slow.open();
    worker.shutdown();
    await ended;
    await close();
    await proxy.close();
  }
}

test('a query beside a local activity replaces its workflow task, which times out, without our screening', async () => {
  const { answer, timeouts } = await queryBesideLocalActivity(false);
  expect(answer).toBe('first ended');
  expect(timeouts).toBeGreaterThan(0);
});

test('with our screening such a query is refused, and the history replays', async () => {
  const { answer, history, id } = await queryBesideLocalActivity(true);
  expect(answer).toContain(RAN_AHEAD);
  await replay(workflowBundle, history, id);
});
