/**
 * `npm run bench:cluster`: reviews with one, two and four processes of each worker on Temporal server 1.32.1 with PostgreSQL, two
 * tenants of which one floods, and a model of up to 64 workers. Writes the curve to docs/images/workers.svg. Progress
 * goes to standard error; with --json the last line of standard output is one object.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { DevClient } from '../dev/client';
import { packageRoot } from '../dev/embedded/places';
import { readOptions, runProgram, say, wholeNumber } from '../dev/run-program';
import { withTemporaryDir } from '../dev/temporary';
import type { Dev } from '../dev/start';
import { curveSvg, type Curve } from './curve-svg';
import { measureFairness, type Fairness } from './fairness';
import { measureLockHolds, type LockHolds } from './lock-holds';
import { WORKER_ROLES } from '../policy/contracts/queues';
import { machine, throughput } from './measure';
import { cpuByProcess, cpuPerReview, type CpuByProcess } from './process-cpu';
import { reviewJob, ROWS } from './reviews';
import { startTemporalCluster } from './temporal-cluster';
import { APPENDS, simulate, type ModelResult } from './worker-model';
import { WIDE_LIMIT } from './shop';
import { clientOf, withShop } from './with-shop';
import { JudgeEnv } from '../workers/config';

const SIZES = [1, 2, 4];
const MODEL_SIZES = [1, 2, 4, 8, 16, 32, 64];
const PER_TARGET = 8;
/** Waiting for servers and network in each step of the model. */
const LATENCY_MS = 50;
const PICTURE = join(packageRoot(), 'docs', 'images', 'workers.svg');
/** By docs/assurance/performance.md: the committer (sixteen appends at a time), the ledger, and the rows of one review. All on two cores. */
const LEDGER = { appendsPerSecond: 1_276, checkpointRowsPerSecond: 10_550, rows: 16 };
/** The default limit over all judge workers; an operator sets it to what the provider allows. */
const JUDGE_DEFAULT = JudgeEnv.shape.COUNTERSIGN_JUDGE_REQUESTS_PER_SECOND.parse(undefined);
/** What the model assumes besides what was measured in this run. */
const ASSUMED = { latencyMs: LATENCY_MS, perTarget: PER_TARGET, judgeDefaultPerSecond: JUDGE_DEFAULT, ...LEDGER };

interface Options {
  readonly reviews: number;
  readonly open: number;
  readonly json: boolean;
}

interface Size {
  readonly workers: number;
  readonly perSecond: number;
  /** CPU of each process for one review. */
  readonly cpuMs: CpuByProcess;
}

/** All without a limit of the judge, apart from `defaultJudge`. */
interface Modelled {
  readonly workers: number;
  readonly manyTenants: ModelResult;
  /** As `manyTenants`, with the default of COUNTERSIGN_JUDGE_REQUESTS_PER_SECOND. */
  readonly defaultJudge: ModelResult;
  readonly oneTarget: ModelResult;
  readonly oneLock: ModelResult;
}

/** Reviews as in `npm run bench`, with a limit over many changes, so that each opening takes its locks. */
async function benchCluster(options: Options): Promise<void> {
  await withTemporaryDir('bench-cluster', async (stateDir) => {
    const cluster = await startTemporalCluster({ stateDir, namespace: 'default', fast: false, say });
    const env = {
      ...process.env,
      TEMPORAL_ADDRESS: cluster.address,
      COUNTERSIGN_DATABASE_ADMIN_URL: cluster.postgres.superuserUrl('postgres'),
    };
    try {
      const shop = { say, policy: { more: [WIDE_LIMIT] }, rows: ROWS, runtime: { env } };
      await withShop(shop, ({ dev, client }) => measure(dev, client, options));
    } finally {
      await cluster.stop();
    }
  });
}

async function measure(dev: Dev, steady: DevClient, { reviews, open, json }: Options): Promise<void> {
  say(`Machine: ${machine()}`);
  say(`Reviews: ${reviews}, ${open} open at once`);
  const holds = await measureLockHolds(dev.setup, steady.countersign, 30);
  say(`Locks: an opening ${holds.openingMs} ms, an end ${holds.endingMs} ms`);
  const sizes = await measureSizes(dev, steady, { reviews, open });
  const flooding = await clientOf(dev, 'flooding');
  const fairness = await measureFairness(dev, { steady, flooding }, { reviews: Math.min(20, reviews), flood: 60 });
  for (const line of fairnessLines(fairness)) say(line);
  await flooding.close();

  const [first] = sizes;
  if (first === undefined) throw new Error('No number of workers was measured');
  const model = MODEL_SIZES.map((workers) => modelled(workers, first.cpuMs, holds));
  for (const line of modelLines(model)) say(line);
  writeFileSync(PICTURE, pictureOf(sizes, model));
  say(`The curve: ${PICTURE}`);
  const result = { machine: machine(), reviews, open, holds, sizes, fairness, ...ASSUMED, model };
  if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
}

/** Adds workers until there are as many as each size says. */
async function measureSizes(
  dev: Dev,
  client: DevClient,
  { reviews, open }: { readonly reviews: number; readonly open: number },
): Promise<Size[]> {
  const pids: Record<string, number> = Object.fromEntries(
    WORKER_ROLES.map((kind) => [`${kind} 1`, dev.processes[kind].pid]),
  );
  const sizes: Size[] = [];
  for (const workers of SIZES) {
    for (let n = Object.keys(pids).length / WORKER_ROLES.length + 1; n <= workers; n++)
      for (const kind of WORKER_ROLES) pids[`${kind} ${n}`] = (await dev.another(kind)).pid;
    const { run } = reviewJob(dev, client, 1 + workers * ROWS);
    const job = async (i: number): Promise<void> => void (await run(i));
    // New processes compile their code and plans first.
    const warm = Math.min(open, reviews) * workers;
    await throughput(warm, open, job);
    const before = cpuByProcess(pids);
    const perSecond = await throughput(reviews, open, (i) => job(warm + i));
    const cpuMs = cpuPerReview(before, cpuByProcess(pids), reviews);
    const size = { workers, perSecond: Math.round(perSecond * 10) / 10, cpuMs };
    sizes.push(size);
    const bound = Math.round((cpus().length * 10_000) / (cpuMs['all'] ?? 0)) / 10;
    say(
      `${workers} of each worker: ${size.perSecond}/s; ${cpus().length} cores at ${cpuMs['all']} ms a review allow ${bound}/s`,
    );
    say(
      `  CPU ms a review: ${Object.entries(cpuMs)
        .map(([name, ms]) => `${name} ${ms}`)
        .join(', ')}`,
    );
  }
  return sizes;
}

function modelled(workers: number, cpu: CpuByProcess, holds: LockHolds): Modelled {
  const input = {
    workers,
    lockByScope: true,
    cpuMs: { review: cpu['review 1'] ?? 0, judge: cpu['judge 1'] ?? 0, commit: cpu['commit 1'] ?? 0 },
    holds,
    latencyMs: LATENCY_MS,
    perTarget: PER_TARGET,
    judgePerSecond: null,
    ...LEDGER,
    reviews: workers * 400,
    open: workers * 40,
  };
  return {
    workers,
    manyTenants: simulate({ ...input, tenants: 64 }),
    defaultJudge: simulate({ ...input, tenants: 64, judgePerSecond: JUDGE_DEFAULT }),
    oneTarget: simulate({ ...input, tenants: 1 }),
    oneLock: simulate({ ...input, tenants: 64, lockByScope: false }),
  };
}

function fairnessLines({ alone, besideFlood, flooding, flood }: Fairness): string[] {
  return [
    `A tenant with one review at a time: p50 ${alone.p50}, p95 ${alone.p95} ms`,
    `  beside a tenant with ${flood} open: p50 ${besideFlood.p50}, p95 ${besideFlood.p95} ms`,
    `  the flooding tenant: p50 ${flooding.p50}, p95 ${flooding.p95} ms`,
  ];
}

function modelLines(model: readonly Modelled[]): string[] {
  const of = ({ perSecond, busiest }: ModelResult): string => `${perSecond}/s (${busiest.name}, ${busiest.share})`;
  return [
    `Model, with ${LATENCY_MS} ms of injected latency in each step and unlimited cores for the workers: reviews/s (busiest resource, share of its time)`,
    `Ledger as measured on two cores: ${LEDGER.appendsPerSecond} appends/s (${APPENDS} a review), checkpoints over ${LEDGER.checkpointRowsPerSecond} rows/s (${LEDGER.rows} a review)`,
    ...model.map(
      ({ workers, manyTenants, defaultJudge, oneTarget, oneLock }) =>
        `${String(workers).padStart(3)} workers: 64 tenants ${of(manyTenants)} · with the default limit of the judge ${of(defaultJudge)} · one target ${of(oneTarget)} · one lock for all openings ${of(oneLock)}`,
    ),
  ];
}

function pictureOf(sizes: readonly Size[], model: readonly Modelled[]): string {
  const curve = (label: string, color: string, of: (each: Modelled) => ModelResult) => ({
    label,
    color,
    points: model.map((each) => ({ x: each.workers, y: of(each).perSecond })),
  });
  return curveSvg(
    'Reviews per second by number of workers of each kind',
    { x: 'processes of each worker', y: 'reviews per second' },
    [
      curve('model: 64 tenants', '#0b6e4f', (each) => each.manyTenants),
      curve(
        `model: 64 tenants, judge limited to ${JUDGE_DEFAULT}/s (the default)`,
        '#b8860b',
        (each) => each.defaultJudge,
      ),
      curve('model: one tenant and one target', '#1f6fb2', (each) => each.oneTarget),
      curve('model: one lock for all openings, as before', '#b23a48', (each) => each.oneLock),
      measuredCurve(sizes),
    ],
  );
}

function measuredCurve(sizes: readonly Size[]): Curve {
  return {
    label: `measured on ${cpus().length} cores`,
    color: '#111111',
    points: sizes.map(({ workers, perSecond }) => ({ x: workers, y: perSecond })),
    isMeasured: true,
  };
}

runProgram(() => {
  const { reviews, open, json } = readOptions({ reviews: '100', open: '30' });
  return benchCluster({ reviews: wholeNumber('--reviews', reviews), open: wholeNumber('--open', open), json });
});
