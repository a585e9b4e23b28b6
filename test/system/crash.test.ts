import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as PgClient } from 'pg';
import { verifyChain } from '../../policy/evidence/chain';
import { eventually } from '../support/eventually';
import { compiled } from '../support/compiled';
import { sampled } from '../support/extent';
import { answering, startJudgeServer, type JudgeServer } from '../support/judge-server';
import { SHOP_SQL, shopBundle } from '../support/shop-bundle';
import { startSystem, type System } from '../support/system';
import { processEnvsOf } from '../support/system-env';
import type { ProcessName, RunningProcess, startProcess } from '../../workers/start-process';
import { update } from './scenarios';

type Name = Exclude<ProcessName, 'gateway'>;
const NAMES = ['review', 'judge', 'commit'] as const satisfies readonly Name[];

let system: System;
let judge: JudgeServer;
let logDir: string;
let start: (name: Name) => Promise<void>;
const processes = new Map<Name, RunningProcess>();

/** By diff, what answers the first request for it. The judge does so only when a test says so. */
const held = new Map<string, () => void>();

beforeAll(async () => {
  logDir = mkdtempSync(join(tmpdir(), 'countersign-crash-'));
  judge = await startJudgeServer((response, request, seen) => {
    const crash = /crash_\w+/.exec(request.message)?.[0];
    if (crash === undefined || held.has(crash)) return answering()(response, request, seen);
    held.set(crash, () => void answering()(response, request, seen));
  });
  const bundleText = shopBundle({ validators: '  - judge: { model: test-judge, deadlineMs: 30000 }' })
    .replace(', Refund]', ']')
    .replace('    cooperative: [Refund]\n', '');
  const [dist] = await Promise.all([
    compiled(),
    (async () => (system = await startSystem({ name: 'crash', bundleText, shopSql: SHOP_SQL, judge, workers: [] })))(),
  ]);
  // Compiled, because it starts the compiled entry points next to it.
  const compiledModule = jest.requireActual<{ startProcess: typeof startProcess }>(
    join(dist, 'workers/start-process.js'),
  );
  const { review, judge: ofJudge, commit } = processEnvsOf(system);
  const envs: Record<Name, Record<string, string>> = {
    review,
    judge: {
      ...ofJudge,
      OPENAI_API_KEY: 'test',
      OPENAI_BASE_URL: judge.baseUrl,
      COUNTERSIGN_JUDGE_REQUESTS_PER_SECOND: '1000',
    },
    commit,
  };
  start = async (name) =>
    void processes.set(name, await compiledModule.startProcess(name, envs[name], logDir, () => {}));
  await Promise.all(NAMES.map(start));
}, 180_000);

afterAll(async () => {
  await Promise.all([...processes.values()].map((each) => each.kill()));
  await system.close();
  await judge.stop();
  rmSync(logDir, { recursive: true, force: true });
}, 60_000);

/** Locks a row, so that a commit of it waits inside the target. Returns the function that releases it. */
async function lockRow(id: number): Promise<() => Promise<void>> {
  const pg = new PgClient({ connectionString: system.setup.targetAdminUrls['shop'] });
  await pg.connect();
  await pg.query('begin');
  await pg.query('select 1 from prices where id = $1 for update', [id]);
  return async () => {
    await pg.query('rollback');
    await pg.end();
  };
}

const raised = (id: number, word = '') =>
  update(`update prices set cents = cents + 1 where id = ${id}${word}`, 'prices', 1);

// A sample is the committer.
test.each(sampled(NAMES.toReversed(), NAMES.length).map((name, i) => [name, i * 10] as const))(
  'after kill -9 and restart of the %s worker, a waiting, a judged and a committing review each have one outcome and one effect [P11, T66]',
  async (victim, base) => {
    const waits = (await system.submit(raised(base + 1))).changeId;
    const commits = (await system.submit(raised(base + 2))).changeId;
    await Promise.all([system.waiting(waits), system.waiting(commits)]);
    const releaseRow = await lockRow(base + 2);
    await system.answer(commits, 'alice', 'confirm');
    await eventually(
      'the commit waits for the row',
      async () =>
        (
          await system.shop(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).length > 0,
    );
    const isJudged = (await system.submit(raised(base + 3, ` /* crash_${victim} */`))).changeId;
    await eventually('the judge receives the diff', async () => held.has(`crash_${victim}`));

    await processes.get(victim)?.kill();
    await releaseRow();
    await start(victim);
    // A judge that was killed asks again.
    if (victim !== 'judge') held.get(`crash_${victim}`)?.();

    await system.answer(waits, 'bob', 'confirm');
    await system.answer(isJudged, 'alice', 'confirm');
    for (const [i, changeId] of [waits, commits, isJudged].entries()) {
      const { state, verified } = await ended(changeId);
      expect({ state, verified }).toEqual({ state: 'COMMITTED', verified: true });
      expect(await system.shop('select cents from prices where id = $1', [base + 1 + i])).toEqual([{ cents: 501 }]);
      const rows = await system.ledger(changeId);
      expect(verifyChain(rows)).toMatchObject({ ok: true });
      for (const kind of ['disclosed', 'intent', 'effect', 'receipt', 'closed'])
        expect([kind, rows.filter(({ row }) => row.kind === kind).length]).toEqual([kind, 1]);
    }
  },
  240_000,
);

/** Waits longer than `System.ended`: the commit of a killed worker times out after its heartbeat timeout of 30 s. */
async function ended(changeId: string): Promise<Awaited<ReturnType<System['ended']>>> {
  await eventually(
    'the review ends',
    async () => (await system.countersign.result(changeId, { timeoutMs: 5_000 })).state !== 'PENDING',
  );
  return await system.ended(changeId);
}
