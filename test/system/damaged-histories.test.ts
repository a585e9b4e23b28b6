import { bundleWorkflows, startWorker } from '../../dev/start-worker';
import { join } from 'node:path';
import { checkHistories } from '../../cli/doctor/histories';
import { HISTORY_DAMAGED } from '../../policy/contracts/ledger';
import { createDailyReplay } from '../../workers/reconciler/daily-replay';
import type { LocalClient } from '../../workers/local-client';
import { replayInProcess } from '../../workers/replay/replay-process';
import { compiled } from '../support/compiled';
import { SHOP } from '../support/shop-bundle';
import { useSystem } from '../support/system';
import { temporalEnv } from '../support/system-env';
import { NARROW, waitingPrice } from './scenarios';

/** The histories of two reviews are replaced by some that other code made: one review is open, one is closed. */
const system = useSystem({ ...SHOP, name: 'damaged' });
let dist: string;
const ids = { open: '', closed: '', sound: '' };

beforeAll(async () => {
  dist = await compiled();
  ids.closed = (await system.submit(NARROW)).changeId;
  await system.ended(ids.closed);
  ids.open = (await system.submit(waitingPrice(3))).changeId;
  ids.sound = (await system.submit(waitingPrice(4))).changeId;
  await system.waiting(ids.open);
  await system.waiting(ids.sound);
  await system.temporal.workflow.getHandle(ids.open).terminate('the test replaces it');
  await makeDamaged([ids.closed, ids.open]);
});

/** Runs another workflow `review` under these ids. */
async function makeDamaged(changeIds: readonly string[]): Promise<void> {
  const taskQueue = `damaged${system.suffix}`;
  const worker = await startWorker(temporalEnv().TEMPORAL_ADDRESS, {
    namespace: system.temporal.options.namespace,
    taskQueue,
    workflowBundle: await bundleWorkflows(require.resolve('./damaged-workflow')),
  });
  try {
    for (const workflowId of changeIds) {
      const { events } = await system.temporal.workflow.getHandle(workflowId).fetchHistory();
      const input = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
      await system.temporal.workflow.execute('review', {
        workflowId,
        taskQueue,
        args: [JSON.parse(Buffer.from(input ?? []).toString())],
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      });
    }
  } finally {
    await worker.stop();
  }
}

const env = (): NodeJS.ProcessEnv => ({ ...temporalEnv(), PATH: process.env['PATH'], LOG_LEVEL: 'fatal' });

const local = (namespace = env()['TEMPORAL_NAMESPACE']): LocalClient =>
  ({
    temporalAddress: env()['TEMPORAL_ADDRESS'],
    namespace,
    databaseUrl: system.setup.databaseUrls.cs_gateway,
  }) as LocalClient;

test('doctor --replay names each damaged history of open and recently closed reviews, and writes nothing', async () => {
  const check = await checkHistories(local(), {});
  expect(check).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/^1 of 3 reviews replayed, 2 do not replay: /),
  });
  for (const id of [ids.open, ids.closed]) expect(check.detail).toContain(id.slice(0, 12));
  expect(check.detail).not.toContain(ids.sound.slice(0, 12));
  expect(await damaged(ids.open)).toEqual([]);
});

test('doctor --replay fails if no history was replayed, because all are of another build', async () => {
  const others = { ok: false, detail: '0 of 3 reviews replayed, 3 skipped (without a build id)' };
  expect(await checkHistories(local(), { COUNTERSIGN_BUILD_ID: 'other' })).toMatchObject(others);
  expect(await checkHistories(local(), {}, 'other')).toMatchObject(others);
});

test('doctor --replay fails with the error of a server that does not answer, and names no review', async () => {
  const failure = checkHistories(local('absent'), {});
  await expect(failure).rejects.toThrow("Namespace not found: 'absent'");
  await expect(failure).rejects.not.toThrow(ids.sound.slice(0, 12));
});

const damaged = async (changeId: string) =>
  (await system.resources.commit.ledger.readKinds(changeId, ['refused']))
    .map(({ row }) => row.body)
    .filter(({ check }) => check === HISTORY_DAMAGED);

test('the daily replay, in a separate process, records and counts each damaged history once, and only once a day', async () => {
  const counted: unknown[] = [];
  const { db, ledger, now } = system.resources.commit;
  const silent = { info: () => {}, warn: () => {}, error: () => {} };
  const dailyReplay = createDailyReplay({
    ...{ db, ledger, now, max: 100, logger: silent, count: (event) => void counted.push(event) },
    replay: (changeIds, each, until) =>
      replayInProcess(changeIds, each, { ...until, env: env(), script: join(dist, 'workers', 'replay.js') }),
  });
  const run = () => dailyReplay(new AbortController().signal);
  expect(await run()).toEqual({ replays: 1, damaged: 2, skipped: 0, failed: 0 });
  expect(await run()).toBeNull();
  for (const id of [ids.open, ids.closed])
    expect(await damaged(id)).toEqual([
      { check: HISTORY_DAMAGED, explanation: expect.stringContaining('ondeterminism'), runId: expect.any(String) },
    ]);
  expect(await damaged(ids.sound)).toEqual([]);
  expect(counted).toEqual([
    { found: 'history', did: 'seen' },
    { found: 'history', did: 'seen' },
  ]);
  // The rows change nothing: the closed review still verifies with its outcome.
  expect(await system.countersign.result(ids.closed)).toMatchObject({ state: 'COMMITTED', verified: true });
});
