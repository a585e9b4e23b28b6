import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../storage/database/database';
import { createLedger } from '../../storage/ledger/ledger';
import { createDailyReplay, type DailyReplayOptions } from '../../workers/reconciler/daily-replay';
import type { Replayed } from '../../workers/replay/replay-histories';
import { useFreshDatabase } from '../support/postgres';

const database = useFreshDatabase();
let admin: Database;
let db: Database;
let name: string;

const DAY_MS = 24 * 60 * 60_000;
/** More than a test takes. */
const TEST_MS = 60_000;
/** Change id of the one open review. */
const ID = 'a'.repeat(64);

/** No UTC midnight comes during a test, after which histories would be due again. */
beforeEach(async () => {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < TEST_MS) await pause(left + 1_000);
}, 2 * TEST_MS);

beforeEach(async () => {
  name = database.name;
  [admin, db] = [database.open('admin'), database.open('cs_commit')];
  await admin.query(
    `insert into reviews (change_id, tenant, target, source_tool, input_sha, state, mode, pending, opened_at, updated_at, summary)
     values ($1, 't', 'shop', 'SQLDryRun', 'x', 'INTERVENTION_REQUIRED', 'review', 1, now(), now(), 'x')`,
    [ID],
  );
});

type Replay = DailyReplayOptions['replay'];
const replays: Replay = (ids, each) => forEach(ids, each, { result: 'replays', why: '' });
const down: Replay = () => Promise.reject(new Error('Temporal did not answer'));

async function forEach(
  ids: Parameters<Replay>[0],
  each: Parameters<Replay>[1],
  result: Pick<Replayed, 'result' | 'why'>,
): Promise<void> {
  for (const changeId of ids) await each({ changeId, runId: 'r', ...result });
}

let logged: unknown[][] = [];
let now = new Date();
beforeEach(() => {
  logged = [];
  now = new Date();
});

/** One committer. */
function committer(replay: Replay) {
  const run = createDailyReplay({
    ...{ db, ledger: createLedger(db), max: 10, replay, now: () => now, count: () => {} },
    logger: {
      info: (...args: unknown[]) => void logged.push(['info', ...args]),
      warn: (...args: unknown[]) => void logged.push(['warn', ...args]),
      error: (...args: unknown[]) => void logged.push(['error', ...args]),
    },
  });
  return () => run(new AbortController().signal);
}

test('histories are replayed once a day across all committers', async () => {
  expect(await committer(replays)()).toMatchObject({ replays: 1 });
  expect(await committer(replays)()).toBeNull();
});

test('a replay that fails, or whose committer stops, starts again on the same day', async () => {
  let replay = down;
  const run = committer((...args) => replay(...args));
  await expect(run()).rejects.toThrow('Temporal did not answer');
  replay = replays;
  expect(await run()).toMatchObject({ replays: 1 });
  expect(await run()).toBeNull();
});

test('a committer starts at most four replays a day that fail, and says that it starts no more', async () => {
  let started = 0;
  const run = committer((...args) => (started++, down(...args)));
  for (let i = 0; i < 4; i++) await expect(run()).rejects.toThrow('Temporal did not answer');
  expect(await run()).toBeNull();
  expect(started).toBe(4);
  expect(logged).toEqual([['error', expect.anything(), 'This committer replays no more histories today']]);
  now = new Date(now.getTime() + DAY_MS);
  await expect(run()).rejects.toThrow('Temporal did not answer');
});

test('no second committer replays at the same time, although the lock is idle for longer than other transactions may be', async () => {
  await admin.query(`alter role cs_commit in database ${name} set idle_in_transaction_session_timeout = '2s'`);
  const other = committer(replays);
  const during: unknown[] = [];
  const run = committer(async (...args) => {
    await pause(3_000);
    during.push(await other());
    await replays(...args);
  });
  expect(await run()).toMatchObject({ replays: 1 });
  expect(during).toEqual([null]);
});

test('a day on which every history was skipped is an error in the log that says why', async () => {
  const run = committer((ids, each) => forEach(ids, each, { result: 'skipped', why: 'of build old' }));
  expect(await run()).toMatchObject({ replays: 0, skipped: 1 });
  expect(logged).toEqual([
    ['error', expect.objectContaining({ of: 1, whySkipped: { 'of build old': 1 } }), 'No history was replayed today'],
  ]);
});
