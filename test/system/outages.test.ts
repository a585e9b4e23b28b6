import { setTimeout as pause } from 'node:timers/promises';
import { EFFECT_UNKNOWN } from '../../policy/contracts/ledger';
import { MESSAGES } from '../../policy/contracts/messages';
import type { ReviewStatus } from '../../policy/contracts/status';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTemporalServer, type TemporalServer } from '../../dev/embedded/temporal-server';
import { SEARCH_ATTRIBUTES } from '../../policy/contracts/search-attributes';
import { queryWorkflow } from '../../dev/query-workflow';
import { eventually } from '../support/eventually';
import { reusablePort } from '../support/listening-port';
import { SHOP } from '../support/shop-bundle';
import { startSwitchProxy, type SwitchProxy } from '../support/switch-proxy';
import { useSystem } from '../support/system';
import { update } from './scenarios';

let countersign: SwitchProxy;
let target: SwitchProxy;
/** While set, `commit` waits for it before it starts. */
let commitGate: Promise<void> | null = null;
beforeAll(async () => {
  const { hostname, port } = new URL(process.env['COUNTERSIGN_TEST_POSTGRES'] ?? '');
  [countersign, target] = await Promise.all([
    startSwitchProxy({ host: hostname, port: Number(port) }),
    startSwitchProxy({ host: hostname, port: Number(port) }),
  ]);
});
const system = useSystem(() => ({
  ...SHOP,
  name: 'outages',
  through: { countersign: countersign.port, target: target.port },
  wrap: (worker, activities) => {
    if (worker !== 'commit') return activities;
    const { commit } = activities as { commit: (input: unknown) => Promise<unknown> };
    return { ...activities, commit: async (input: unknown) => (await commitGate, await commit(input)) };
  },
}));
afterAll(() => Promise.all([countersign.stop(), target.stop()]));

const narrow = (id: number) => update(`update items set stock = stock + 1 where id = ${id}`, 'items', 1);
const needsAnswer = (id: number) => update(`update prices set cents = cents + 1 where id = ${id}`, 'prices', 1);
const stock = async (id: number): Promise<unknown> =>
  (await system.shop<{ stock: number }>('select stock from items where id = $1', [id]))[0]?.stock;
const cents = async (id: number): Promise<unknown> =>
  (await system.shop<{ cents: number }>('select cents from prices where id = $1', [id]))[0]?.cents;

/** The state of the workflow, which is ahead of the ledger while the database is down. */
async function reaches(changeId: string, state: string): Promise<void> {
  const handle = system.temporal.workflow.getHandle(changeId);
  const isReached = async () => (await queryWorkflow<ReviewStatus>(handle, 'status')).state === state;
  await eventually(`the review reaches ${state}`, isReached, { everyMs: 50 });
}

test('if our database is down at submission, submit fails, nothing is started, and the same submit succeeds later', async () => {
  await countersign.down();
  const change = { ...narrow(1), target: 'shop', requestKey: system.suffix };
  await expect(system.countersign.submit(change)).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.stringMatching(/nothing was submitted/) as string,
  });
  await countersign.up();
  const { changeId } = await system.countersign.submit(change);
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED' });
  expect(await stock(1)).toBe(11);
});

test('if our database is down before the review is opened, submit returns pending, and the review continues when it is back', async () => {
  await system.stopWorker('review');
  const change = { ...narrow(2), target: 'shop', requestKey: system.suffix };
  const { changeId } = system.countersign.prepare(change);
  await expect(system.countersign.submit(change, { timeoutMs: 5_000 })).resolves.toMatchObject({
    changeId,
    preflight: 'pending',
  });
  await countersign.down();
  await system.startWorker('review');
  await expect(system.countersign.result(changeId, { timeoutMs: 2_000 })).rejects.toMatchObject({
    code: 'ledger_unavailable',
  });
  await countersign.up();
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
  expect(await stock(2)).toBe(11);
});

test('if the target is down at the dry run, the review waits and continues when it is back', async () => {
  await target.down();
  const { changeId, preflight } = await system.submit(narrow(3));
  expect(preflight).toMatchObject({ forbidden: false });
  await expect(system.countersign.result(changeId, { timeoutMs: 5_000 })).resolves.toMatchObject({
    state: 'PENDING',
    status: { state: 'RUNNING' },
  });
  await target.up();
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED' });
  expect(await stock(3)).toBe(11);
});

test('if the target is down at the commit, the commit is retried until it is back and applied once', async () => {
  const { changeId } = await system.submit(needsAnswer(1));
  await system.waiting(changeId);
  await target.down();
  await system.answer(changeId, 'alice', 'confirm');
  await reaches(changeId, 'COMMITTING');
  await pause(1_000);
  await target.up();
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
  expect(await cents(1)).toBe(501);
});

test('if the target is not set up at the commit, the effect is unknown until it is set up again, and the workflow does not fail', async () => {
  const { changeId } = await system.submit(needsAnswer(4));
  await system.waiting(changeId);
  await system.shop('alter table countersign.marker rename to hidden');
  await system.answer(changeId, 'alice', 'confirm');
  const isRecorded = async () =>
    (await system.ledger(changeId)).some(({ row }) => row.body['check'] === EFFECT_UNKNOWN);
  await eventually('the unknown effect is recorded', isRecorded, { everyMs: 50 });
  await reaches(changeId, 'EFFECT_UNKNOWN');
  await system.shop('alter table countersign.hidden rename to marker');
  await system.temporal.workflow.getHandle(changeId).signal(MESSAGES.lookAgain);
  await expect(system.ended(changeId)).resolves.toMatchObject({
    state: 'ROLLED_BACK',
    verified: true,
    outcome: { reason: 'commit_failed' },
  });
  expect(await cents(4)).toBe(500);
});

test('if our database is down at the commit, nothing is applied without a ledger row, and the change is applied once when it is back', async () => {
  const { changeId } = await system.submit(needsAnswer(2));
  await system.waiting(changeId);
  let open = (): void => {};
  commitGate = new Promise((resolve) => (open = resolve));
  await system.answer(changeId, 'alice', 'confirm');
  await reaches(changeId, 'COMMITTING');
  await countersign.down();
  open();
  commitGate = null;
  await pause(1_500);
  expect(await cents(2)).toBe(500);
  await countersign.up();
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
  expect(await cents(2)).toBe(501);
});

test('if our database is down when an answer arrives, the answer is admitted when it is back and counts once', async () => {
  const { changeId } = await system.submit(needsAnswer(3));
  const status = await system.waiting(changeId);
  await countersign.down();
  const answers = system.sign(status, 'bob', 'confirm');
  const answering = system.countersign.answer(changeId, answers);
  await pause(700);
  await countersign.up();
  expect(Object.values(await answering).map((r) => r.code)).toEqual(['accepted']);
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED' });
  expect((await system.ledger(changeId)).filter(({ row }) => row.kind === 'answer_accepted')).toHaveLength(1);
});

describe('the Temporal server', () => {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-temporal-'));
  let server: TemporalServer;
  const start = (port: number) =>
    startTemporalServer({
      cliPath: process.env['COUNTERSIGN_TEST_CLI'] ?? '',
      dir,
      namespace: 'default',
      searchAttributes: SEARCH_ATTRIBUTES,
      port,
      say: () => {},
    });
  const own = useSystem(async () => {
    server = await start(await reusablePort());
    return { ...SHOP, name: 'temporal-away', temporalAddress: server.address };
  });
  afterAll(async () => {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  test('can be killed and restarted while a review waits: callers get an error, and the review continues [P11]', async () => {
    const { changeId } = await own.submit(needsAnswer(4));
    const status = await own.waiting(changeId);
    const { port } = server;
    process.kill(server.pid, 'SIGKILL');
    await server.stop();
    // Status and result come from the ledger.
    await expect(own.countersign.status(changeId)).resolves.toMatchObject({ state: 'INTERVENTION_REQUIRED' });
    await expect(
      own.countersign.answer(changeId, own.sign(status, 'alice', 'confirm'), { timeoutMs: 2_000 }),
    ).rejects.toMatchObject({ code: 'temporal_unavailable' });
    server = await start(port);
    expect(server.port).toBe(port);
    await own.answer(changeId, 'alice', 'confirm');
    await expect(own.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
    expect(await own.shop('select cents from prices where id = 4')).toEqual([{ cents: 501 }]);
  });
});
