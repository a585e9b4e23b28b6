/**
 * `npm run bench`: measures reviews on the real servers and, in the same run, a baseline workflow of the same shape.
 * `npm run bench -- rules`: rules alone. Progress goes to standard error; with --json the last line of standard output is
 * one object.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import { createSigner } from '../client/signer';
import { signAnswers } from '../client/sign-answers';
import { startScriptedJudge } from '../examples/demo/scripted-judge';
import { openDevClient, type DevClient } from '../dev/client';
import { startDev, type Dev } from '../dev/start';
import { TASK_QUEUES } from '../policy/contracts/queues';
import { FLOOR_SUFFIX } from './floor-worker';
import { benchRules } from './rules';
import { cpuSeconds, historyFigures, machine, seedItems, spread, throughput, type Spread } from './measure';

const ROWS = 20_000;

const BUNDLE = `
version: 1
name: bench
domain: bench
provider: scripted
model: scripted-judge
targets:
  shop: { development: true, sourceTools: [SQLDryRun] }
groups:
  dba: { members: [alice, bob] }
defaultGroup: dba
validators:
  - pack: sql-postgres
    rules: { sql_affected_rows: { config: { maxRows: 0 } } }
  - validator:
      name: tables
      level: confirm
      policyVersion: '1'
      rules: [{ tableWhitelist: { name: usual, allowed: [none] } }]
  - judge: { model: scripted-judge }
`;

interface Figures {
  readonly perSecond: number;
  readonly submitToPreflightMs: Spread;
  readonly lastAnswerToCommittedMs: Spread;
  readonly events: number;
  readonly actions: number;
  readonly workerCpuMs: number;
}

async function main(json: boolean, reviews: number, open: number): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const stateDir = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  const judge = await startScriptedJudge({ script: () => ({}) });
  const dev = await startDev({
    stateDir,
    say,
    bundleText: BUNDLE,
    targets: [{ name: 'shop', database: 'shop', schemas: ['public'], seed: seedItems(ROWS) }],
    judge: { baseUrl: judge.baseUrl, apiKey: 'scripted' },
    judgeRequestsPerSecond: 1000,
    breakers: false,
    runtime: { temporalPort: 0, uiPort: 0, postgresPort: 0 },
  });
  try {
    const client = await openDevClient({
      setup: dev.setup,
      temporalAddress: dev.runtime.temporalAddress,
      namespace: dev.runtime.namespace,
      applicationName: 'bench',
    });
    const { temporal } = client;
    say(`Machine: ${machine()}`);
    say(`Reviews: ${reviews}, ${open} open at once; then one at a time`);
    const ours = await measureReviews(dev, client, reviews, open);
    say(`Floor: the same number of no-op activities and messages`);
    const floor = await measureFloor(dev, temporal, reviews, open);
    const ratioToFloor = Math.round((ours.perSecond / floor.perSecond) * 1000) / 1000;
    for (const [name, f] of [
      ['review', ours],
      ['floor', floor],
    ] as const) {
      say(
        `${name.padEnd(7)} ${f.perSecond.toFixed(1)}/s · submit → preflight p50 ${f.submitToPreflightMs.p50} p95 ${f.submitToPreflightMs.p95} p99 ${f.submitToPreflightMs.p99} ms · ` +
          `last answer → committed p50 ${f.lastAnswerToCommittedMs.p50} p95 ${f.lastAnswerToCommittedMs.p95} p99 ${f.lastAnswerToCommittedMs.p99} ms · ${f.events} events, ${f.actions} actions · worker CPU ${f.workerCpuMs} ms`,
      );
    }
    say(`throughput is ${ratioToFloor} of the floor`);
    if (json)
      process.stdout.write(
        `${JSON.stringify({ ratioToFloor, machine: machine(), reviews, open, review: ours, floor })}\n`,
      );
    await client.close();
  } finally {
    await dev.stop();
    await judge.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function measureReviews(dev: Dev, client: DevClient, total: number, open: number): Promise<Figures> {
  const { setup } = dev;
  const { countersign, temporal } = client;
  const approver = createSigner(setup.keys.alice.key);
  const times = { preflight: [] as number[], commit: [] as number[] };
  let last = '';
  const job = async (i: number): Promise<void> => {
    const began = performance.now();
    const raw = `update items set stock = ${i + 1} where id = ${(i % ROWS) + 1}`;
    const { changeId, preflight } = await countersign.submit(
      { target: 'shop', sourceTool: 'SQLDryRun', raw, metadata: { table_name: 'items', affected_rows: 1 } },
      { timeoutMs: 60_000 },
    );
    if (preflight === 'pending') throw new Error('The preflight took more than 60 s');
    times.preflight.push(performance.now() - began);
    const status = await poll(async () => {
      if (!(await client.isDisclosed(changeId))) return null;
      const status = await countersign.status(changeId);
      if (status.state !== 'RUNNING' && status.state !== 'INTERVENTION_REQUIRED')
        throw new Error(`The review is ${status.state}: ${status.reason ?? ''}`);
      return status.state === 'INTERVENTION_REQUIRED' ? status : null;
    });
    const issuedAt = new Date();
    for (const violation of status.violations) {
      const choice = { violationIds: [violation.violationId], decision: 'confirm' as const, reason: 'bench' };
      const answers = signAnswers(changeId, { changeId, status, staging: null, preview: null }, choice, approver, {
        issuedAt,
        expiresAt: new Date(issuedAt.getTime() + 600_000),
      });
      const sent = await countersign.answer(changeId, [...answers]);
      if (Object.values(sent).some((r) => r.code !== 'accepted')) throw new Error(JSON.stringify(sent));
    }
    const answered = performance.now();
    const result = await countersign.result(changeId, { timeoutMs: 60_000 });
    times.commit.push(performance.now() - answered);
    if (result.state !== 'COMMITTED' || result.verified !== true)
      throw new Error(`Expected a verified COMMITTED, got ${JSON.stringify(result).slice(0, 500)}`);
    last = changeId;
  };
  const pids = Object.values(dev.processes).map((p) => p.pid);
  return figures(temporal, total, open, job, times, () => last, pids);
}

/** Polls until `ask` resolves with a value, as an approver's client does: immediately, then every 250 ms. */
async function poll<T>(ask: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const status = await ask();
    if (status !== null) return status;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

async function measureFloor(dev: Dev, temporal: Client, total: number, open: number): Promise<Figures> {
  const workers = await Promise.all(
    (['review', 'judge', 'commit'] as const).map((name) => startFloorWorker(dev, name)),
  );
  const times = { preflight: [] as number[], commit: [] as number[] };
  let last = '';
  const run = Date.now().toString(36);
  const job = async (i: number): Promise<void> => {
    const began = performance.now();
    const workflowId = `floor-${run}-${i}`;
    const startWorkflowOperation = new WithStartWorkflowOperation('floor', {
      workflowId,
      taskQueue: TASK_QUEUES.review + FLOOR_SUFFIX,
      args: [{ i }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    await temporal.workflow.executeUpdateWithStart('submit', { startWorkflowOperation });
    times.preflight.push(performance.now() - began);
    const handle = temporal.workflow.getHandle(workflowId);
    await poll(async () => ((await handle.query<string>('status')) === 'RUNNING' ? null : true));
    await handle.executeUpdate('answer', { args: [{ n: 1 }] });
    await handle.executeUpdate('answer', { args: [{ n: 2 }] });
    const answered = performance.now();
    await handle.result();
    times.commit.push(performance.now() - answered);
    last = workflowId;
  };
  try {
    return await figures(
      temporal,
      total,
      open,
      job,
      times,
      () => last,
      workers.map((w) => w.pid ?? 0),
    );
  } finally {
    await Promise.all(workers.map(stopped));
  }
}

async function figures(
  temporal: Client,
  total: number,
  open: number,
  job: (i: number) => Promise<void>,
  times: { preflight: number[]; commit: number[] },
  last: () => string,
  pids: readonly number[],
): Promise<Figures> {
  const warm = Math.min(30, total);
  await throughput(warm, open, job);
  const cpuBefore = cpuSeconds(pids);
  const perSecond = await throughput(total, open, (i) => job(warm + i));
  const workerCpuMs = Math.round(((cpuSeconds(pids) - cpuBefore) / total) * 1000);
  times.preflight.length = 0;
  times.commit.length = 0;
  await throughput(Math.min(50, total), 1, (i) => job(warm + total + i));
  const { events, actions } = await historyFigures(temporal, last());
  return {
    perSecond: Math.round(perSecond * 10) / 10,
    submitToPreflightMs: spread(times.preflight),
    lastAnswerToCommittedMs: spread(times.commit),
    events,
    actions,
    workerCpuMs,
  };
}

function startFloorWorker(dev: Dev, name: string): Promise<ChildProcess> {
  const child = fork(join(__dirname, 'floor-worker.js'), [name], {
    env: { ...process.env, TEMPORAL_ADDRESS: dev.runtime.temporalAddress, TEMPORAL_NAMESPACE: dev.runtime.namespace },
  });
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve(child));
    child.once('exit', (code) => reject(new Error(`The baseline worker ${name} exited with ${code}`)));
  });
}

function stopped(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean' }, reviews: { type: 'string' }, open: { type: 'string' } },
  allowPositionals: true,
});
const [which = 'reviews'] = positionals;
const json = values.json === true;
const bench = {
  reviews: () => main(json, Number(values.reviews ?? 300), Number(values.open ?? 30)),
  rules: () => benchRules(json),
}[which];
if (bench === undefined) {
  process.stderr.write(`bench: expected reviews (the default) or rules, got "${which}"\n`);
  process.exitCode = 2;
} else
  bench().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  });
