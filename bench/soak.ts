/**
 * `npm run soak -- --minutes 120`: reviews at a steady rate on the real servers, and a reading of each process and of this one (`client`)
 * every few seconds: heaps of the main thread and of all others after garbage collection, resident memory, handles, files, threads, and
 * connections to PostgreSQL; of PostgreSQL and Temporal only memory. Exits with 1 if one of them leaks (soak-verdict.ts). Progress goes to
 * standard error; with --json the last line of standard output is one object. Linux only.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import './memory-probe';
import { messageOf } from '../client/errors';
import { positiveNumber, readOptions, runProgram, say, UsageError } from '../dev/run-program';
import type { Dev } from '../dev/start';
import { machine, spread } from './measure';
import { reviewJob, ROWS, type ReviewJob } from './reviews';
import { PROBED, connectionsByApplication, readProcess, readServers } from './soak-readings';
import { growthOf, MIN_READINGS, type Growth, type Sample } from './soak-verdict';
import { WIDE_LIMIT } from './shop';
import { CLIENT, withShop, type MeasuredShop } from './with-shop';

const MAX_OPEN = 40;
/** A dry run that exceeds its time limit on an overloaded machine ends its review. */
const MAX_FAILED = 0.05;

interface Load {
  readonly minutes: number;
  /** Reviews that are started each second. If MAX_OPEN are open, a start waits. */
  readonly perSecond: number;
  readonly everySeconds: number;
}

interface Verdict {
  readonly isFailed: boolean;
  readonly result: object;
}

/** Failed if a process leaks, or more reviews failed than an overloaded machine explains. */
async function soak({ dev, client }: MeasuredShop, load: Load): Promise<Verdict> {
  const admin = new Pool({ connectionString: dev.runtime.postgres.superuserUrl('countersign'), max: 1 });
  try {
    say(`Machine: ${machine()}`);
    const job = reviewJob(dev, client);
    const { series, failures } = await readWhile(dev, admin, job, load);
    const growth = growthOf(series);
    for (const each of growth) say(lineOf(each));
    const leaks = growth.filter(({ isLeak }) => isLeak);
    const reviews = job.times.all.length;
    const reviewMs = spread(job.times.all);
    for (const failure of failures.slice(0, 10)) say(`Not committed: ${failure}`);
    say(
      `${reviews} reviews in ${load.minutes} min, p95 ${reviewMs.p95} ms; not committed: ${failures.length}; leaks: ${leaks.length}`,
    );
    const last = Object.fromEntries(Object.entries(series).map(([name, samples]) => [name, samples.at(-1)?.values]));
    const result = {
      machine: machine(),
      ...load,
      reviews,
      reviewMs,
      failed: failures.length,
      leaks: leaks.length,
      growth,
      last,
    };
    return { isFailed: leaks.length > 0 || failures.length > MAX_FAILED * reviews, result };
  } finally {
    await admin.end();
  }
}

/** Ends reviews and readings at the same time, also if one of them fails. */
interface Period {
  isOver(): boolean;
  end(): void;
}

function periodOf(minutes: number): Period {
  let until = performance.now() + minutes * 60_000;
  return { isOver: () => performance.now() >= until, end: () => (until = 0) };
}

interface Readings {
  readonly series: Record<string, Sample[]>;
  readonly failures: readonly string[];
}

/** Starts reviews at the rate of the load until its time is over, and reads all processes meanwhile. */
async function readWhile(dev: Dev, admin: Pool, job: ReviewJob, load: Load): Promise<Readings> {
  const period = periodOf(load.minutes);
  const [reviewing, reading] = await Promise.allSettled([
    startReviews(dev, job, load.perSecond, period).finally(() => period.end()),
    readAll(dev, admin, job, load.everySeconds, period).finally(() => period.end()),
  ]);
  if (reviewing.status === 'rejected') throw reviewing.reason;
  if (reading.status === 'rejected') throw reading.reason;
  return { series: reading.value, failures: reviewing.value };
}

async function readAll(
  dev: Dev,
  admin: Pool,
  job: ReviewJob,
  everySeconds: number,
  period: Period,
): Promise<Record<string, Sample[]>> {
  const series: Record<string, Sample[]> = {};
  while (!period.isOver()) {
    await sleep(everySeconds * 1000);
    const reviews = job.times.all.length;
    const connections = await connectionsByApplication(admin);
    const keep = (name: string, values: Sample['values']): void => void (series[name] ??= []).push({ reviews, values });
    for (const [name, { pid }] of Object.entries(dev.processes))
      keep(name, await readProcess(pid, connections.get(`countersign-${name}`) ?? 0));
    keep('client', await readProcess(process.pid, connections.get(CLIENT) ?? 0));
    for (const [name, values] of Object.entries(readServers())) keep(name, values);
    say(`${reviews} reviews; ${summaryOf(series)}`);
  }
  return series;
}

/** Resolves with the messages of reviews that did not commit. */
async function startReviews(dev: Dev, job: ReviewJob, perSecond: number, period: Period): Promise<readonly string[]> {
  const running = new Set<Promise<void>>();
  const failures: string[] = [];
  const began = performance.now();
  for (let i = 0; !period.isOver(); i++) {
    await sleep(Math.max(0, began + (i * 1000) / perSecond - performance.now()));
    if (running.size >= MAX_OPEN) await Promise.race(running);
    const review = Promise.all([job.run(i), loadInbox(dev)])
      .then(() => {})
      .catch((error: unknown) => void failures.push(messageOf(error)))
      .finally(() => running.delete(review));
    running.add(review);
  }
  await Promise.all(running);
  return failures;
}

async function loadInbox({ inboxUrl }: Dev): Promise<void> {
  const response = await fetch(inboxUrl);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`The inbox answered with ${response.status}`);
}

function summaryOf(series: Readonly<Record<string, readonly Sample[]>>): string {
  return Object.entries(series)
    .map(([name, samples]) => {
      const values = Object.entries(samples.at(-1)?.values ?? {});
      return `${name} ${values.map(([value, n]) => `${value} ${Math.round(n * 10) / 10}`).join(', ')}`;
    })
    .join(' · ');
}

function lineOf({ process, value, perReview, inTotal, isLeak }: Growth): string {
  return `${isLeak ? 'LEAK ' : 'ok   '}${process} ${value}: ${perReview.toFixed(5)} a review, ${inTotal.toFixed(1)} in total`;
}

runProgram(async () => {
  const values = readOptions({ minutes: '120', rate: '1', every: '15' });
  const load = {
    minutes: positiveNumber('--minutes', values.minutes),
    perSecond: positiveNumber('--rate', values.rate),
    everySeconds: positiveNumber('--every', values.every),
  };
  // A reading itself takes a moment.
  const readings = Math.floor((load.minutes * 60) / load.everySeconds) - 1;
  if (readings < MIN_READINGS)
    throw new UsageError(
      `--minutes: expected time for ${MIN_READINGS} readings, one every ${load.everySeconds} s; use more minutes, or a smaller --every`,
    );
  const review = { COUNTERSIGN_BREAKERS: 'on' };
  const options = { say, policy: { more: [WIDE_LIMIT] }, rows: ROWS, review, nodeArguments: () => PROBED };
  const { isFailed, result } = await withShop(options, (shop) => soak(shop, load));
  if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  return isFailed ? 1 : 0;
});
