/**
 * `npm run bench:open -- --reviews 10000`: opens this many reviews that wait for people, then lists them and answers some of them at
 * a steady rate. Progress goes to standard error; with --json the last line of standard output is one object.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createSigner } from '../client/signer';
import { signAnswers } from '../client/sign-answers';
import { openDevClient, type DevClient } from '../dev/client';
import { startDev, type Dev } from '../dev/start';
import { machine, seedItems, spread, throughput, type Spread } from './measure';
import { memoryByProcess } from './process-memory';

/** Two packs and two answers, as `npm run bench`, without the judge. */
const BUNDLE = `
version: 1
name: bench
domain: bench
provider: none
model: none
targets:
  shop: { development: true, sourceTools: [SQLDryRun] }
groups:
  dba: { members: [alice, bob] }
defaultGroup: dba
deadline: 7d
validators:
  - pack: sql-postgres
    rules: { sql_affected_rows: { config: { maxRows: 0 } } }
  - pack: secrets
  - validator:
      name: tables
      level: confirm
      policyVersion: '1'
      rules: [{ tableWhitelist: { name: usual, allowed: [none] } }]
`;

interface Load {
  readonly reviews: number;
  readonly perSecond: number;
  readonly seconds: number;
}

async function benchOpen(load: Load, json: boolean): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const stateDir = mkdtempSync(join(tmpdir(), 'countersign-bench-open-'));
  const dev = await startDev({
    stateDir,
    say,
    bundleText: BUNDLE,
    targets: [{ name: 'shop', database: 'shop', schemas: ['public'], seed: seedItems(load.reviews + 1) }],
    breakers: false,
    runtime: { temporalPort: 0, uiPort: 0, postgresPort: 0 },
  });
  try {
    const { temporalAddress, namespace } = dev.runtime;
    const client = await openDevClient({ setup: dev.setup, temporalAddress, namespace, applicationName: 'bench' });
    say(`Machine: ${machine()}`);
    const pids = Object.fromEntries(Object.entries(dev.processes).map(([name, { pid }]) => [name, pid]));
    const idle = memoryByProcess(pids);
    const { ids, perSecond } = await openAll(client, load.reviews, say);
    say(`opened ${load.reviews}, ${perSecond}/s`);
    const listMs = await measureLists(client);
    say(`first page of the list: p95 ${listMs.p95} ms`);
    const decisionToCommitMs = await answerSteadily(dev, client, ids, load);
    say(`answered at ${load.perSecond}/s: decision → commit p95 ${decisionToCommitMs.p95} ms`);
    const memoryMiB = { idle, loaded: memoryByProcess(pids) };
    say(`memory: ${JSON.stringify(memoryMiB)}`);
    const result = { machine: machine(), ...load, openedPerSecond: perSecond, listMs, decisionToCommitMs, memoryMiB };
    if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
    await client.close();
  } finally {
    await dev.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

const OPEN_AT_ONCE = 20;

async function openAll(
  client: DevClient,
  reviews: number,
  say: (line: string) => void,
): Promise<{ readonly ids: readonly string[]; readonly perSecond: number }> {
  const ids: string[] = [];
  const perSecond = await throughput(reviews, OPEN_AT_ONCE, async (i) => {
    const { changeId } = await client.countersign.submit(
      {
        target: 'shop',
        sourceTool: 'SQLDryRun',
        raw: `update items set stock = ${i + 1} where id = ${i + 1}`,
        metadata: { table_name: 'items', affected_rows: 1 },
      },
      { timeoutMs: 120_000 },
    );
    await client.waiting(changeId, 120_000);
    ids.push(changeId);
    if (ids.length % 500 === 0) say(`${ids.length} of ${reviews} are open`);
  });
  return { ids, perSecond: Math.round(perSecond * 10) / 10 };
}

/** First pages: all, by state and by target, 40 of each. */
async function measureLists({ countersign }: DevClient): Promise<Spread> {
  const samples: number[] = [];
  for (const filter of [{}, { state: 'INTERVENTION_REQUIRED' as const }, { target: 'shop' }]) {
    for (let i = 0; i < 40; i++) {
      const began = performance.now();
      const { reviews } = await countersign.list(filter);
      samples.push(performance.now() - began);
      if (reviews.length === 0) throw new Error('The list is empty');
    }
  }
  return spread(samples);
}

/** Starts answers at a fixed rate, however long they take: a slow system does not get fewer. */
async function answerSteadily(dev: Dev, client: DevClient, ids: readonly string[], load: Load): Promise<Spread> {
  const samples: number[] = [];
  const running: Promise<void>[] = [];
  const count = Math.min(ids.length, load.perSecond * load.seconds);
  const began = performance.now();
  for (let i = 0; i < count; i++) {
    await sleep(Math.max(0, began + (i * 1000) / load.perSecond - performance.now()));
    // Spread over all of them, so that few are in the cache of a worker.
    const changeId = ids[Math.floor((i * ids.length) / count)];
    if (changeId !== undefined) running.push(answerAndWait(dev, client, changeId).then((ms) => void samples.push(ms)));
  }
  await Promise.all(running);
  return spread(samples);
}

/** Milliseconds from sending the decision to the verified commit. */
async function answerAndWait({ setup }: Dev, { countersign }: DevClient, changeId: string): Promise<number> {
  const status = await countersign.status(changeId);
  const issuedAt = new Date();
  const pending = status.violations.filter(({ resolution }) => resolution === 'pending');
  const choice = { violationIds: pending.map((v) => v.violationId), decision: 'confirm' as const, reason: 'bench' };
  const validity = { issuedAt, expiresAt: new Date(issuedAt.getTime() + 600_000) };
  const about = { changeId, status, staging: null, preview: null };
  const answers = signAnswers(changeId, about, choice, createSigner(setup.keys.alice.key), validity);
  const began = performance.now();
  await countersign.answer(changeId, [...answers]);
  const result = await countersign.result(changeId, { timeoutMs: 120_000 });
  const ms = performance.now() - began;
  if (result.state !== 'COMMITTED' || !result.verified)
    throw new Error(`Expected a verified commit, got ${result.state}`);
  return ms;
}

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    reviews: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '60' },
  },
});
const load = { reviews: Number(values.reviews), perSecond: Number(values.rate), seconds: Number(values.seconds) };
if (Object.values(load).some((value) => !Number.isInteger(value) || value < 1)) {
  process.stderr.write('bench:open: expected whole numbers from 1 for --reviews, --rate and --seconds\n');
  process.exitCode = 2;
} else
  benchOpen(load, values.json).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  });
