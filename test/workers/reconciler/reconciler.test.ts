import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import type { Database, Queryable } from '../../../storage/database/database';
import { createPayloadCodec } from '../../../workers/encryption/payload-codec';
import { Reconciler } from '../../../workers/reconciler/reconciler';
import { eventually } from '../../support/eventually';
import { ReviewWorld } from '../../support/review/review-world';

const GRACE_MS = 60_000;
const MINUTE = 60_000;
const RUNNING = 1;
const TERMINATED = 5;
const NOT_FOUND = 5;

beforeEach(() =>
  jest.useFakeTimers({ doNotFake: ['performance', 'setImmediate', 'nextTick', 'setTimeout', 'setInterval'] }),
);
afterEach(() => jest.useRealTimers());

interface Workflow {
  status: number;
  type?: string;
  attempt?: number;
  /** Pending activities, by `describe`. */
  pending?: readonly object[];
  /** Events of its history, by their members. */
  history?: readonly object[];
  events?: number;
  queue?: string;
}

const KEYS = { current: 'k2', keys: new Map([['k2', Buffer.alloc(32, 2)]]) };
async function encryptedWith(keyId: string) {
  const ring = { current: keyId, keys: new Map([[keyId, Buffer.alloc(32, 2)]]) };
  return { payloads: await createPayloadCodec(ring).encode([{ metadata: {}, data: Buffer.from('{}') }]) };
}
/** The first event of a history, with an input that was encrypted with this key. */
async function startedWith(keyId: string) {
  return { eventId: 1, workflowExecutionStartedEventAttributes: { input: await encryptedWith(keyId) } };
}
async function resultWith(keyId: string, eventId: number) {
  return { eventId, activityTaskCompletedEventAttributes: { result: await encryptedWith(keyId) } };
}

const completed = (eventId: number) => ({ eventId, workflowTaskCompletedEventAttributes: {} });
const { WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR: diverged } = temporal.api.enums.v1.WorkflowTaskFailedCause;
/** A failed workflow task, in which the worker named the event that does not fit. */
const failedAt = (eventId: number, named: number) => ({
  eventId,
  workflowTaskFailedEventAttributes: {
    cause: diverged,
    failure: {
      message: `[TMPRL1100] Update machine does not handle this event: HistoryEvent(id: ${named}, UpdateAccepted)`,
    },
  },
});

/** `expect` takes long, and there are thousands of queries. */
function assertIn(query: string, part: string): void {
  if (!query.includes(part)) throw new Error(`expected "${part}" in: ${query}`);
}

/** A reconciler over the reviews of one world and the workflows of a server in memory. */
async function setting(workflow: Workflow | null, { others = 0, healthy = 0, othersGone = false } = {}) {
  const world = await new ReviewWorld().confirmed();
  const server = {
    workflow,
    pollers: true,
    locked: true,
    resets: [] as string[],
    terminated: [] as string[],
    down: false,
    listed: [] as readonly string[],
    lists: [] as string[],
    listFails: null as number | null,
    older: false,
    described: 0,
    stopsAfter: Infinity,
    answered: false,
    deadline: null as Date | null,
    signals: [] as string[],
    resetFails: false,
    otherHistoriesHang: false,
    recoversAfter: Infinity,
    namespaceMissing: false,
  };
  const describe = ({ execution }: { execution: { workflowId: string } }) => {
    server.described++;
    if (server.described >= server.stopsAfter) stop.abort();
    if (server.down) throw Object.assign(new Error('unavailable'), { code: 14, details: '', metadata: {} });
    if (server.described > server.recoversAfter) server.workflow = { status: RUNNING };
    const seen =
      execution.workflowId === world.changeId
        ? server.workflow
        : othersGone
          ? null
          : { status: RUNNING, attempt: execution.workflowId.startsWith('!') ? 0 : 9 };
    if (server.namespaceMissing)
      throw Object.assign(new Error('namespace'), {
        code: NOT_FOUND,
        details: 'Namespace test is not found.',
        metadata: {},
      });
    if (seen === null) throw Object.assign(new Error('not found'), { code: NOT_FOUND, details: '', metadata: {} });
    return {
      workflowExecutionInfo: {
        status: seen.status,
        type: { name: seen.type ?? 'review' },
        execution: { runId: `run ${server.resets.length}` },
        taskQueue: 'queue' in seen ? seen.queue : 'countersign-review',
        historyLength: seen.events ?? 10,
      },
      pendingWorkflowTask: { attempt: seen.attempt ?? 0 },
      pendingActivities: 'pending' in seen ? seen.pending : [],
    };
  };
  const temporal = {
    options: { namespace: 'test', loadedDataConverter: { payloadCodecs: [createPayloadCodec(KEYS)] } },
    withDeadline: (_deadline: number, call: () => unknown) => call(),
    workflowService: {
      describeWorkflowExecution: async (request: never) => describe(request),
      describeTaskQueue: async ({ taskQueue }: { taskQueue: { name: string } }) => {
        if (taskQueue.name.startsWith('!')) throw new Error('no such queue');
        return {
          pollers: server.pollers ? [{ lastAccessTime: { seconds: Date.now() / 1000 } }] : [],
        };
      },
      listWorkflowExecutions: async ({ query }: { query: string }) => {
        server.lists.push(query);
        if (server.listFails !== null)
          throw Object.assign(new Error('list'), { code: server.listFails, details: '', metadata: {} });
        if (query.includes('TemporalReportedProblems') && server.older)
          throw Object.assign(new Error('no such attribute'), { code: 3, details: '', metadata: {} });
        return { executions: server.listed.map((workflowId) => ({ execution: { workflowId } })) };
      },
      getWorkflowExecutionHistory: async ({ execution }: { execution: { workflowId: string } }) => {
        if (server.otherHistoriesHang && execution.workflowId !== world.changeId) await new Promise(() => {});
        return { history: { events: server.workflow?.history ?? [completed(4)] }, nextPageToken: [] };
      },
      resetWorkflowExecution: async (request: {
        workflowTaskFinishEventId: number;
        resetReapplyExcludeTypes: number[];
      }) => {
        if (server.resetFails) throw new Error('not allowed');
        const { workflowTaskFinishEventId: point, resetReapplyExcludeTypes: without } = request;
        server.resets.push(`to ${point} without ${without.length} kinds of messages`);
        return { runId: 'next' };
      },
    },
    workflow: {
      getHandle: (id: string) => ({
        signal: async (name: string) => void server.signals.push(name),
        terminate: async () => {
          server.terminated.push(id);
          if (id === world.changeId) server.workflow = { status: TERMINATED };
        },
      }),
    },
  } as unknown as Client;
  const ids = (length: number, first: string) =>
    Array.from({ length }, (_, i) => `${first}${`${i}`.padStart(63, '0')}`);
  // The review of the world is the last.
  const open = [world.changeId, ...ids(others, '#'), ...ids(healthy, '!')].toSorted();
  const closedAt = Date.now();
  const review = (id: string) => ({
    change_id: id,
    state: 'INTERVENTION_REQUIRED',
    opened_at: new Date(closedAt),
    updated_at: new Date(closedAt),
    deadline_at: server.deadline,
    answered: id === world.changeId && server.answered,
  });
  const db = {
    query: async (text: string, [given]: readonly [string | readonly string[] | Date]) => {
      const closed = (await world.ledger.readKinds(world.changeId, ['closed'])).length > 0;
      if (given instanceof Date) {
        assertIn(text, 'closed_at >= $1');
        return {
          rows:
            closed && given.getTime() <= closedAt ? [{ change_id: world.changeId, closed_at: new Date(closedAt) }] : [],
        };
      }
      if (text.includes('closed_at is not null'))
        return {
          rows:
            closed && given.includes(world.changeId)
              ? [{ change_id: world.changeId, closed_at: new Date(closedAt) }]
              : [],
        };
      const among =
        typeof given === 'string'
          ? open.filter((id) => id > given).slice(0, 500)
          : open.filter((id) => given.includes(id));
      assertIn(text, typeof given === 'string' ? 'limit 500' : 'any($1)');
      return { rows: among.filter((id) => !closed || id !== world.changeId).map(review) };
    },
    transaction: (work: (tx: Queryable) => Promise<unknown>) =>
      work({ query: async () => ({ rows: [{ locked: server.locked }] }) } as unknown as Queryable),
  } as unknown as Database;
  const counted: string[] = [];
  const reconciler = new Reconciler({
    db,
    deps: world.deps,
    temporal,
    graceMs: GRACE_MS,
    logger: { info: jest.fn(), warn: jest.fn(), error: jest.fn() } as never,
    count: ({ found, did }) => void counted.push(`${found} ${did}`),
  });
  const stop = new AbortController();
  const pass = () => reconciler.pass(stop.signal);
  /** Passes once a minute. */
  const passes = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) {
      await pass();
      jest.setSystemTime(Date.now() + MINUTE);
    }
  };
  return {
    world,
    server,
    pass,
    passes,
    counted,
    reason: async () => (await world.rows()).findLast(({ row }) => row.kind === 'closed')?.row.body['reason'] ?? null,
  };
}

test('a review whose workflow was terminated ends as workflow_lost, after the grace period and not before', async () => {
  const { passes, reason, counted } = await setting({ status: TERMINATED });
  await passes(1);
  expect(await reason()).toBeNull();
  await passes(1);
  expect(await reason()).toBe('workflow_lost');
  expect(counted).toEqual(['terminated seen', 'terminated ended']);
});

test('a review whose workflow does not exist ends as workflow_lost', async () => {
  const { passes, reason } = await setting(null);
  await passes(2);
  expect(await reason()).toBe('workflow_lost');
});

test('a workflow of another type under the id of a review is terminated after the review was ended', async () => {
  const { passes, reason, server, world } = await setting({ status: RUNNING, type: 'mallory' });
  await passes(2);
  expect(await reason()).toBe('workflow_lost');
  expect(server.terminated).toEqual([world.changeId]);
});

test('a review that waits is left alone, and so is every review while the server cannot be asked', async () => {
  const { passes, reason, server, counted } = await setting({ status: RUNNING });
  await passes(100);
  server.workflow = { status: TERMINATED };
  server.down = true;
  await passes(100);
  expect([await reason(), counted]).toEqual([null, []]);
});

test('a pass that is stopped looks at no other review, also while the server cannot be asked, and repairs none', async () => {
  const { pass, passes, server, counted } = await setting({ status: TERMINATED }, { healthy: 400 });
  await passes(1);
  Object.assign(server, { described: 0, stopsAfter: 10 });
  await pass();
  // As many as are looked at together have begun.
  expect(server.described).toBeLessThan(20);
  expect(counted).toEqual(['terminated seen']);
});

test('a problem that went away in between is counted from the start', async () => {
  const { passes, reason, server } = await setting({ status: TERMINATED });
  await passes(1);
  server.workflow = { status: RUNNING };
  await passes(1);
  server.workflow = { status: TERMINATED };
  await passes(1);
  expect(await reason()).toBeNull();
});

test('a workflow that fails its task is reset first, and its review is ended if that does not help', async () => {
  const { passes, reason, server, world } = await setting({ status: RUNNING, attempt: 5 });
  await passes(2);
  expect(server.resets).toHaveLength(1);
  expect(await reason()).toBeNull();
  await passes(20);
  expect(server.resets).toEqual(['to 4 without 0 kinds of messages', 'to 4 without 2 kinds of messages']);
  expect(await reason()).toBe('workflow_lost');
  expect(server.terminated).toEqual([world.changeId]);
});

test('a workflow whose history does not replay is reset within a minute to the task before the event that the worker named, then one task further back', async () => {
  const { pass, passes, reason, server, counted, world } = await setting({
    status: RUNNING,
    attempt: 3,
    history: [completed(4), completed(9), completed(15), completed(21), failedAt(25, 17)],
  });
  await pass();
  jest.setSystemTime(Date.now() + 20_000);
  await pass();
  expect(server.resets).toEqual(['to 15 without 0 kinds of messages']);
  expect(counted).toEqual(['task_fails seen', 'task_fails reset']);
  const repaired = (await world.rows()).filter(({ row }) => row.kind === 'repaired');
  expect(repaired.map(({ row }) => row.body)).toMatchObject([{ did: 'reset', found: 'task_fails', point: 15 }]);

  server.workflow = { status: RUNNING, attempt: 3, history: [completed(4), completed(9), failedAt(16, 13)] };
  await passes(2);
  server.workflow = { status: RUNNING, attempt: 3, history: [completed(4), failedAt(12, 8)] };
  await passes(2);
  expect(server.resets).toEqual([
    'to 15 without 0 kinds of messages',
    'to 9 without 0 kinds of messages',
    'to 4 without 2 kinds of messages',
  ]);
  expect(await reason()).toBeNull();
  await passes(20);
  expect(server.resets).toHaveLength(3);
  expect(await reason()).toBe('workflow_lost');
});

test('a workflow that is encrypted with a key that the committer does not have is neither reset nor ended before it is overdue', async () => {
  const { passes, reason, server, counted } = await setting({
    status: RUNNING,
    attempt: 5,
    history: [await startedWith('k1'), completed(4), failedAt(25, 5)],
  });
  await passes(20);
  expect([server.resets, await reason(), counted]).toEqual([[], null, ['task_fails seen']]);
  server.workflow = { ...server.workflow, status: RUNNING, history: [await startedWith('k2'), completed(4)] };
  await passes(5);
  expect(server.resets[0]).toBe('to 4 without 0 kinds of messages');
});

test('a workflow that has an activity result with a missing key before the point of its reset is not reset; one after it does not matter', async () => {
  const kept = [await startedWith('k2'), completed(4), await resultWith('k1', 7), completed(9)];
  const { passes, reason, server } = await setting({ status: RUNNING, attempt: 5, history: kept });
  await passes(20);
  expect([server.resets, await reason()]).toEqual([[], null]);
  server.workflow = { status: RUNNING, attempt: 5, history: [...kept.slice(0, 3), failedAt(8, 7)] };
  await passes(5);
  expect(server.resets[0]).toBe('to 4 without 0 kinds of messages');
});

test('a review whose workflow was reset as often as can help is not ended while a payload key is missing', async () => {
  const { passes, reason, server } = await setting({ status: RUNNING, attempt: 5 });
  await passes(2);
  server.workflow = { status: RUNNING, attempt: 5, events: 11 };
  await passes(2);
  expect(server.resets).toHaveLength(2);
  server.workflow = { status: RUNNING, attempt: 5, events: 12, history: [await startedWith('k1'), completed(4)] };
  await passes(20);
  expect([server.resets.length, await reason()]).toEqual([2, null]);
});

test('a workflow that a message stops is reset with the messages first, then without', async () => {
  const { passes, server } = await setting({ status: RUNNING, attempt: 5, history: [completed(4), completed(9)] });
  await passes(2);
  server.workflow = { status: RUNNING, attempt: 5, history: [completed(4)] };
  await passes(2);
  expect(server.resets).toEqual(['to 9 without 0 kinds of messages', 'to 4 without 2 kinds of messages']);
});

test('a workflow that made progress after it failed a task is reset to its last task', async () => {
  const history = [completed(4), failedAt(8, 3), completed(12)];
  const { passes, server } = await setting({ status: RUNNING, attempt: 5, history });
  await passes(2);
  expect(server.resets).toEqual(['to 12 without 0 kinds of messages']);
});

describe('after a review has ended', () => {
  const committed = async (workflow: Workflow) => {
    const made = await setting(workflow);
    expect((await made.world.commit()).state).toBe('COMMITTED');
    return made;
  };

  test('a workflow that fails its task is reset, and terminated if that does not help; the ledger has both, and the outcome stays', async () => {
    const { passes, pass, server, counted, world } = await committed({
      status: RUNNING,
      attempt: 3,
      history: [completed(4), completed(9), failedAt(16, 13)],
    });
    jest.setSystemTime(Date.now() + 20_000);
    await pass();
    jest.setSystemTime(Date.now() + 20_000);
    await pass();
    expect(server.resets).toEqual(['to 9 without 0 kinds of messages']);
    await passes(20);
    expect(server.terminated).toEqual([world.changeId]);
    expect(counted.slice(0, 2)).toEqual(['task_fails seen', 'task_fails reset']);
    expect(counted.at(-1)).toBe('task_fails terminated');
    const rows = await world.rows();
    const head = rows.findIndex(({ row }) => row.kind === 'head');
    expect(rows.slice(head + 1).map(({ row }) => [row.kind, row.body['did']])).toEqual([
      ...server.resets.map(() => ['repaired', 'reset']),
      ['repaired', 'terminated'],
    ]);
    expect(await world.commit()).toMatchObject({ state: 'COMMITTED', reason: null });
    expect(world.target.applied).toBe(1);
  });

  test('a workflow that is encrypted with a missing key is not reset, and is terminated after a day', async () => {
    const history = [await startedWith('k1'), completed(4), failedAt(16, 5)];
    const { passes, server, world } = await committed({ status: RUNNING, attempt: 3, history });
    await passes(1400);
    expect([server.resets, server.terminated]).toEqual([[], []]);
    await passes(60);
    expect([server.resets, server.terminated]).toEqual([[], [world.changeId]]);
  });

  test('a workflow that the server lists as ended is not described', async () => {
    const { passes, server, world } = await committed({ status: RUNNING, attempt: 9 });
    server.listed = [world.changeId];
    await passes(3);
    expect([server.described, server.resets]).toEqual([0, []]);
  });

  test('a workflow that has ended is forgotten, and one that runs without failing is left alone', async () => {
    const { passes, server, counted } = await committed({ status: RUNNING });
    await passes(5);
    expect(server.described).toBeGreaterThan(1);
    server.workflow = { status: 2 };
    await passes(3);
    const { described } = server;
    await passes(5);
    expect([server.described, server.resets, server.terminated, counted]).toEqual([described, [], [], []]);
  });
});

test('a review whose workflow keeps asking for an end that the rows do not support is ended, and its workflow is not terminated', async () => {
  const refused = (attempt: number, type = 'VALIDATION_ERROR') => [
    { activityType: { name: 'admitAnswer' }, attempt: 9 },
    { activityType: { name: 'rollback' }, attempt, lastFailure: { message: 'no', applicationFailureInfo: { type } } },
  ];
  const { passes, reason, server } = await setting({ status: RUNNING, pending: refused(3) });
  await passes(10);
  server.workflow = { status: RUNNING, pending: refused(50, 'STORE_UNAVAILABLE') };
  await passes(10);
  expect(await reason()).toBeNull();
  server.workflow = { status: RUNNING, pending: refused(4) };
  await passes(2);
  expect([await reason(), server.terminated]).toEqual(['workflow_lost', []]);
});

test('a workflow whose failing task makes progress is not touched', async () => {
  const { pass, reason, server } = await setting({ status: RUNNING, attempt: 5 });
  for (let events = 10; events < 30; events++) {
    server.workflow = { status: RUNNING, attempt: 5, events };
    await pass();
    jest.setSystemTime(Date.now() + MINUTE);
  }
  expect([server.resets, await reason()]).toEqual([[], null]);
});

test('a failing task is left alone while no worker polls: the workers are down', async () => {
  const { passes, reason, server } = await setting({ status: RUNNING, attempt: 5 });
  server.pollers = false;
  await passes(100);
  expect([server.resets, await reason()]).toEqual([[], null]);
});

test('while many workflows fail their task, none is reset without its messages, and none is ended', async () => {
  const { passes, reason, server } = await setting({ status: RUNNING, attempt: 5 }, { others: 30 });
  await passes(100);
  expect(server.resets.filter((reset) => !reset.endsWith('without 0 kinds of messages'))).toEqual([]);
  expect([await reason(), server.terminated]).toEqual([null, []]);
});

test('while many workflows are gone, a review is ended only when it is overdue', async () => {
  const { passes, reason, server } = await setting(null, { others: 30, othersGone: true });
  server.deadline = new Date(Date.now() + 3_600_000);
  await passes(60);
  expect(await reason()).toBeNull();
  await passes(40);
  expect(await reason()).toBe('workflow_lost');
});

test('a namespace that does not exist is not taken for a missing workflow', async () => {
  const { passes, reason, server, counted } = await setting({ status: RUNNING });
  server.namespaceMissing = true;
  await passes(100);
  expect([await reason(), counted]).toEqual([null, []]);
});

test('a queue that the server cannot describe does not stop the repairs', async () => {
  const { passes, reason } = await setting({ status: RUNNING, queue: '!mallory' }, { others: 1 });
  await passes(10);
  expect(await reason()).toBe('workflow_lost');
});

test('workflows whose histories cannot be read for long do not delay the repair of another', async () => {
  const { pass, passes, reason, server } = await setting({ status: TERMINATED }, { others: 3 });
  server.otherHistoriesHang = true;
  await passes(1);
  void pass();
  await eventually('the review is ended', async () => (await reason()) === 'workflow_lost');
});

test('a workflow whose reset always fails is ended all the same', async () => {
  const { passes, reason, server } = await setting({ status: RUNNING, attempt: 5 });
  server.resetFails = true;
  await passes(30);
  expect(await reason()).toBe('workflow_lost');
});

test('resets of more than a day ago do not count: the next one has the messages again', async () => {
  const { passes, server, world } = await setting({ status: RUNNING, attempt: 5 });
  await passes(2);
  server.workflow = { status: RUNNING };
  await passes(2);
  jest.setSystemTime(Date.now() + 25 * 3_600_000);
  world.pass(25 * 60);
  server.workflow = { status: RUNNING, attempt: 5 };
  await passes(2);
  expect(server.resets).toEqual(['to 4 without 0 kinds of messages', 'to 4 without 0 kinds of messages']);
});

test('a workflow that recovers between the description and the repair is not ended', async () => {
  const { passes, reason, server } = await setting({ status: TERMINATED });
  await passes(1);
  server.recoversAfter = server.described + 1;
  await passes(1);
  expect(await reason()).toBeNull();
});

describe('a workflow that waits for answers that the ledger has', () => {
  test('is told to read them again, less often as time passes, and the ledger has one row of it', async () => {
    const { passes, server, world, counted, reason } = await setting({ status: RUNNING });
    server.answered = true;
    await passes(3);
    expect(server.signals).toEqual(['look_again']);
    await passes(60);
    expect(server.signals.length).toBeGreaterThan(2);
    expect(server.signals.length).toBeLessThan(10);
    const repaired = (await world.rows()).filter(({ row }) => row.kind === 'repaired');
    expect(repaired.map(({ row }) => row.body)).toMatchObject([{ did: 'woken', found: 'behind' }]);
    expect([counted.slice(0, 2), await reason()]).toEqual([['behind seen', 'behind woken'], null]);
  });

  test('is left alone while no worker polls, and while the committer is asked to commit', async () => {
    const { passes, server } = await setting({ status: RUNNING, pending: [{ activityType: { name: 'commit' } }] });
    server.answered = true;
    await passes(10);
    server.workflow = { status: RUNNING };
    server.pollers = false;
    await passes(10);
    expect(server.signals).toEqual([]);
  });
});

test('a committer without the lock does nothing', async () => {
  const { passes, pass, reason, server } = await setting({ status: TERMINATED });
  server.locked = false;
  await passes(10);
  expect([await pass(), await reason()]).toEqual([null, null]);
});

describe('with more open reviews than one pass looks at', () => {
  const healthy = 1_200;

  test('a workflow that the server lists is seen in the next pass and ended after the grace period', async () => {
    const { world, server, passes, reason, counted } = await setting({ status: TERMINATED }, { healthy });
    server.listed = [world.changeId];
    await passes(1);
    expect(counted).toEqual(['terminated seen']);
    server.listed = [];
    await passes(1);
    expect(await reason()).toBe('workflow_lost');
  });

  test.each<[string, Partial<Awaited<ReturnType<typeof setting>>['server']>]>([
    ['does not list', {}],
    ['lists although it is not open', { listed: ['another'] }],
    ['cannot list', { listFails: 14 }],
  ])('a workflow that the server %s is seen within one round', async (_name, given) => {
    const { server, passes, counted } = await setting({ status: TERMINATED }, { healthy });
    Object.assign(server, given);
    await passes(2);
    expect(counted).toEqual([]);
    await passes(1);
    expect(counted).toEqual(['terminated seen']);
  });

  test('a server that does not report failing tasks still lists the workflows that ended', async () => {
    const { world, server, passes, counted } = await setting({ status: TERMINATED }, { healthy });
    Object.assign(server, { listed: [world.changeId], older: true });
    await passes(1);
    expect(counted).toEqual(['terminated seen']);
  });

  test('asks for what ended since the last list that arrived', async () => {
    const { server, passes } = await setting({ status: RUNNING }, { healthy: 0 });
    const since = () =>
      /CloseTime >= '([^']*)'/.exec(server.lists.findLast((query) => query.includes('CloseTime')) ?? '')?.[1];
    await passes(1);
    const first = since();
    server.listFails = 14;
    await passes(2);
    server.listFails = null;
    await passes(1);
    const afterFailures = since();
    await passes(1);
    expect(first).toBeDefined();
    expect(Date.parse(afterFailures ?? '') - Date.parse(first ?? '')).toBeLessThanOrEqual(MINUTE);
    expect(Date.parse(since() ?? '')).toBeGreaterThan(Date.parse(afterFailures ?? ''));
  });
});
