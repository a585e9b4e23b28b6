import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { bundleWorkflows, startWorker } from '../../dev/start-worker';
import { quietRuntime } from '../support/local-workers';
import { replayHistories, type Replayed } from '../../workers/replay/replay-histories';
import { WORKFLOW_INTERCEPTORS } from '../../workers/workflow-bundle';
import { RAN_AHEAD } from '../../policy/contracts/messages';
import { eventually } from '../support/eventually';
import { startPollProxy } from '../support/poll-proxy';
import { replay } from '../support/replay';
import { testWorkflowBundle } from '../support/test-workflow-bundle';

jest.setTimeout(240_000);

const WORKFLOW = require.resolve('./run-ahead-workflow');
const STICKY_MS = 500;
const address = (): string => process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '';
const namespace = process.env['COUNTERSIGN_TEST_NAMESPACE'] ?? 'default';
const suffix = `${process.pid}-${Date.now().toString(36)}`;

/** The activity `step` waits until its step is opened. */
const gates = new Map<string, { readonly opened: Promise<void>; readonly open: () => void }>();
function gate(step: string) {
  const known = gates.get(step);
  if (known !== undefined) return known;
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const made = { opened, open };
  gates.set(step, made);
  return made;
}

let connection: Connection;
let client: Client;
let activities: Awaited<ReturnType<typeof startWorker>>;

beforeAll(async () => {
  quietRuntime('ERROR');
  connection = await Connection.connect({ address: address() });
  client = new Client({ connection, namespace });
  activities = await startWorker(address(), {
    namespace,
    taskQueue: `run-ahead-${suffix}`,
    activities: {
      step: async (id: string, step: string) => gate(`${id} ${step}`).opened.then(() => step),
      admit: async (message: string) => `admitted ${message}`,
    },
  });
});
afterAll(async () => {
  for (const { open } of gates.values()) open();
  await activities.stop();
  await connection.close();
});

const eventsOf = async (handle: WorkflowHandle) => (await handle.fetchHistory()).events ?? [];

/**
 * A query waits until its sticky time-out has passed, then an activity completes, and the worker polls the query before the workflow
 * task. Resolves with null if it polled the workflow task first: the server decides.
 */
async function runAhead(bundle: { readonly code: string }, n: number) {
  const proxy = await startPollProxy(address());
  // A worker for workflows only, whose polls the proxy can hold.
  const { stop } = await startWorker(proxy.address, {
    namespace,
    taskQueue: `run-ahead-${suffix}`,
    workflowBundle: bundle,
    maxConcurrentWorkflowTaskExecutions: 4,
    stickyQueueScheduleToStartTimeout: STICKY_MS,
  });
  const id = `run-ahead-${suffix}-${n}`;
  const handle = await client.workflow.start('stepping', {
    taskQueue: `run-ahead-${suffix}`,
    workflowId: id,
    args: [id],
  });
  try {
    await eventually('the first step runs', () => gates.has(`${id} first`));
    proxy.hold();
    const asked = handle.query<string>('status').then(
      (at) => `answered: ${at}`,
      (error: unknown) => String(error),
    );
    await sleep(3 * STICKY_MS);
    gate(`${id} first`).open();
    await eventually('the first step has completed', async () =>
      (await eventsOf(handle)).some((event) => event.activityTaskCompletedEventAttributes != null),
    );
    const before = proxy.polled.length;
    await eventually('a poll of the normal queue is held', () => proxy.releaseOne());
    await eventually('a task is polled', () => proxy.polled.length > before);
    if (proxy.polled[before]?.isQuery !== true) return null;
    const answer = await asked;
    const update = handle.executeUpdate('answer', { args: ['x'] });
    await sleep(STICKY_MS);
    proxy.release();
    await update;
    for (const step of ['second', 'third']) gate(`${id} ${step}`).open();
    const result = await handle.result();
    return { answer, result, history: await handle.fetchHistory(), id };
  } finally {
    proxy.release();
    for (const step of ['first', 'second', 'third']) gate(`${id} ${step}`).open();
    await stop();
    await proxy.close();
    await handle.terminate('the test has ended').catch((error: unknown) => {
      if (!(error instanceof Error && error.name === 'WorkflowNotFoundError')) throw error;
    });
  }
}

let attempts = 0;

/** Repeats until the query was polled first. */
async function polledFirst(bundle: { readonly code: string }) {
  for (let n = 0; n < 12; n++) {
    const result = await runAhead(bundle, ++attempts);
    if (result !== null) return result;
  }
  throw new Error('The server gave the workflow task first in 12 attempts');
}

test('a query that runs ahead of its workflow task makes a history that does not replay, without our interceptor', async () => {
  const bundle = await testWorkflowBundle();
  const { answer, history, id } = await polledFirst(bundle);
  expect(answer).toBe('answered: second');
  await expect(replay(bundle, history, id)).rejects.toThrow('TMPRL1100');
  const found: Replayed[] = [];
  const worker = { workflowBundle: bundle };
  for await (const each of replayHistories({
    client,
    changeIds: [id],
    worker,
    buildId: null,
    workflowType: 'stepping',
  }))
    found.push(each);
  expect(found).toMatchObject([{ changeId: id, result: 'damaged', why: expect.stringContaining('HistoryEvent(id: ') }]);
});

test('with our interceptor such a query fails and the history replays', async () => {
  const bundle = await bundleWorkflows(WORKFLOW, WORKFLOW_INTERCEPTORS);
  const { answer, result, history, id } = await polledFirst(bundle);
  expect(answer).toContain(RAN_AHEAD);
  expect(result).toEqual(['admitted x']);
  expect(history.events?.some((event) => event.workflowTaskFailedEventAttributes != null)).toBe(false);
  await replay(bundle, history, id);
});
