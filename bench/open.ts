/**
 * `npm run bench:open -- --reviews 10000`: opens this many reviews that wait for people, then lists them and answers some of them at
 * a steady rate (`--rate 10`, or several: `2,10`). `--placed N` of them are not submitted but placed (place-reviews.ts), which is far
 * faster. Progress goes to standard error; with --json the last line of standard output is one object.
 */
import type { DevClient } from '../dev/client';
import { freePort } from '../dev/embedded/places';
import { readOptions, runProgram, say, UsageError, wholeNumber } from '../dev/run-program';
import { ledgerNotifications, type LedgerNotifications } from '../storage/ledger/notifications';
import { answerSteadily, type Answered } from './answer-steadily';
import { awaitRow } from './await-row';
import { machine, spread, throughput, type Spread } from './measure';
import { placeReviews } from './place-reviews';
import { cpuByProcess, cpuPerReview } from './process-cpu';
import { memoryByProcess } from './process-memory';
import { itemChange } from './shop';
import { watchWorker } from './watch-worker';
import { CLIENT, processIds, withShop, type MeasuredShop } from './with-shop';

/** How long answers are sent at each rate. */
const RATE_SECONDS = 60;

interface Load {
  /** Answers per second, one after the other. */
  readonly rates: readonly number[];
  /** All, with the placed ones. */
  readonly reviews: number;
  readonly placed: number;
}

async function benchOpen({ dev, client }: MeasuredShop, load: Load, metricsPort: number): Promise<object> {
  const notifications = ledgerNotifications({ url: dev.setup.databaseUrls.cs_gateway, applicationName: CLIENT });
  const ids: string[] = [];
  let placed = 0;
  const worker = watchWorker(dev.processes.review.pid, metricsPort, () => ids.length + placed);
  try {
    say(`Machine: ${machine()}`);
    const pids = processIds(dev);
    const idle = memoryByProcess(pids);
    const before = cpuByProcess(pids);
    const { openedPerSecond, endedEarly } = await openAll(client, notifications, load, ids);
    const cpuMsByProcess = cpuPerReview(before, cpuByProcess(pids), ids.length);
    say(`opened ${ids.length}, ${openedPerSecond}/s, CPU ms of each: ${JSON.stringify(cpuMsByProcess)}`);
    if (load.placed > 0) {
      await placeReviews(dev, client, ids[0] ?? '', load.placed, (count) => {
        placed = count;
        if (count % 250 === 0) say(`${count} are placed`);
      });
      say('all workflows of the placed reviews wait');
    }
    const listMs = await measureLists(client);
    say(`pages of the list: p50 ${listMs.p50}, p95 ${listMs.p95} ms`);
    const answers: Answered[] = [];
    for (const [k, perSecond] of load.rates.entries()) {
      const own = ids.filter((_, i) => i % load.rates.length === k);
      const answered = await answerSteadily(dev, client, notifications, own, { perSecond, seconds: RATE_SECONDS });
      answers.push(answered);
      const { p50, p95 } = answered.decisionToCommitMs;
      say(`answered ${answered.answered} at ${perSecond}/s: decision → commit p50 ${p50}, p95 ${p95} ms`);
    }
    const samples = await worker.stop();
    const memoryMiB = { idle, loaded: memoryByProcess(pids) };
    say(`memory: ${JSON.stringify(memoryMiB)}`);
    for (const sample of samples) say(JSON.stringify(sample));
    const opened = { opened: ids.length, placed, endedEarly, openedPerSecond, cpuMsByProcess };
    return { machine: machine(), ...load, ...opened, listMs, answers, memoryMiB, worker: samples };
  } finally {
    await worker.cancel();
    await notifications.close();
  }
}

const OPEN_AT_ONCE = 10;

/** Adds the id of each review that waits for people to `ids`. `endedEarly`: why others ended without a question to a person. */
async function openAll(
  client: DevClient,
  notifications: LedgerNotifications,
  { reviews, placed }: Load,
  ids: string[],
): Promise<{ readonly openedPerSecond: number; readonly endedEarly: readonly string[] }> {
  const endedEarly: string[] = [];
  const began = performance.now();
  await throughput(reviews - placed, OPEN_AT_ONCE, async (i) => {
    const change = itemChange(i + 1, `stock = ${i + 1}`);
    const { changeId } = await client.countersign.submit(change, { timeoutMs: 120_000 });
    const kind = await awaitRow({ ledger: client.ledger, notifications }, changeId, ['disclosed', 'closed'], 120_000);
    if (kind === 'closed') {
      const result = await client.countersign.result(changeId, { timeoutMs: 60_000 });
      const why = 'outcome' in result ? `${result.outcome.reason}: ${result.outcome.explanation}` : result.state;
      say(`${changeId} ended without a question: ${why}`);
      endedEarly.push(why);
      return;
    }
    ids.push(changeId);
    const seconds = (performance.now() - began) / 1000;
    if (ids.length % 250 === 0) say(`${ids.length} are open, ${(ids.length / seconds).toFixed(1)}/s`);
  });
  const openedPerSecond = Math.round((ids.length / ((performance.now() - began) / 1000)) * 10) / 10;
  return { openedPerSecond, endedEarly };
}

const PAGES = 40;

/** First pages of all reviews, of a state and of a target, and pages one after the other. */
async function measureLists({ countersign }: DevClient): Promise<Spread> {
  const samples: number[] = [];
  let after: string | null = null;
  const page = async (filter: Parameters<typeof countersign.list>[0]): Promise<string | null> => {
    const began = performance.now();
    const { reviews, next } = await countersign.list(filter);
    samples.push(performance.now() - began);
    if (reviews.length === 0) throw new Error('The list is empty');
    return next;
  };
  for (let i = 0; i < PAGES; i++) {
    for (const filter of [{}, { state: 'INTERVENTION_REQUIRED' as const }, { target: 'shop' }]) await page(filter);
    after = await page(after === null ? {} : { after });
  }
  return spread(samples);
}

runProgram(async () => {
  const values = readOptions({ reviews: '10000', rate: '10', placed: '0' });
  const load: Load = {
    reviews: wholeNumber('--reviews', values.reviews),
    rates: values.rate.split(',').map((rate) => wholeNumber('--rate', rate)),
    placed: wholeNumber('--placed', values.placed, 0),
  };
  if (load.placed >= load.reviews) throw new UsageError('--placed: expected fewer than --reviews');
  const metricsPort = await freePort();
  const options = {
    say,
    policy: { judge: false, deadline: '7d', more: ['{ pack: secrets }'] },
    rows: load.reviews + 1,
    review: { COUNTERSIGN_METRICS_PORT: String(metricsPort) },
  };
  const result = await withShop(options, (shop) => benchOpen(shop, load, metricsPort));
  if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
});
