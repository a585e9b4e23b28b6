/**
 * npm run sweep -- [--runs N] [--seed S] [--exhaustive] [--only CASE] [--open K] [--json]
 *
 * Crashes reviews on real servers at the failpoints of `points.ts`, then checks target, ledger and histories with `check.ts`.
 * `--exhaustive`: every failpoint × every action, and killed servers; with `--runs`, random reviews as well.
 * `--only`: the random review of that number, or the cases whose name begins so; `--only sample` has all with a required outcome.
 * First Ctrl-C: starts no further reviews and checks those so far. Second Ctrl-C: exits at once.
 * Progress goes to standard error; the last line of standard output is one object, with `repaired`: how many reviews the reconciler
 * reset or ended, `repairs`: which, and why, `queries`: what became of the queries that the sweep sent to open reviews, and `replay`:
 * how many histories replay afterwards. Exits 1 on a violation, 2 on wrong usage. Keeps data, logs and the histories of reviews that broke
 * a rule, do not replay or were repaired.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { runProgram, say, UsageError, wholeNumber } from '../../dev/run-program';
import { REVIEW_WORKFLOW } from '../../policy/contracts/queues';
import { inParallel } from '../../workers/in-parallel';
import { installQuietRuntime } from '../../workers/replay/quiet-runtime';
import { replayHistories, type Replayed } from '../../workers/replay/replay-histories';
import { seededRandom, shuffled } from '../seeded-random';
import { environment, exhaustive, otherTarget, random, sample, type Case } from './cases';
import { repairsOf, violationsOf, type Repaired } from './check';
import { startCluster, type Cluster } from './cluster';
import { startMetadataQueries, type QueryCounts } from './metadata-queries';
import { observe, unknownChanges } from './observe';
import { expectedState, outcomeDifferences, scenarioViolations } from './outcomes';
import { ACTIONS, HANG_MS } from './points';
import { ReviewDriver } from './review-driver';

let stopRequested = false;

interface CheckedReview {
  readonly drive: ReviewDriver;
  readonly problems: readonly string[];
  readonly state: string;
  readonly repairs: readonly Repaired[];
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string' },
      seed: { type: 'string' },
      exhaustive: { type: 'boolean' },
      only: { type: 'string', multiple: true },
      open: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  const seed = wholeNumber('--seed', values.seed ?? String(Date.now() % 1_000_000), 0);
  const runs = wholeNumber('--runs', values.runs ?? (values.exhaustive === true ? '0' : '1000'), 0);
  const open = wholeNumber('--open', values.open ?? '20');
  const cases = selectCases(values.only ?? [], values.exhaustive === true, runs, seed);
  if (cases.flat().length === 0) throw new UsageError('--runs: expected at least one review');
  const stateDir = mkdtempSync(join(tmpdir(), 'countersign-sweep-'));
  const cluster = await startCluster(stateDir, say);
  let isKept = true;
  try {
    const began = Date.now();
    say(`${cases.flat().length} reviews, seed ${seed}; servers, workers and logs in ${stateDir}`);
    const drives: ReviewDriver[] = [];
    const querying = startMetadataQueries({ temporal: cluster.temporal, open: cluster.openReviews, seed });
    for (const part of cases) drives.push(...(await drive(cluster, part, open, drives.length)));
    const queries = await querying.stop();
    if (drives.some(({ of }) => of.faults.some(({ action }) => action === 'hang' || action === 'stop'))) {
      say('Waiting until the last hanging attempt has resumed');
      await sleep(HANG_MS + 2_000);
    }
    const found = await checkReviews(cluster, drives);
    const unknown = await unknownChanges(cluster, drives);
    const { replay, damaged } = await replayAll(cluster, drives);
    const unusual = found.filter(
      ({ drive, problems, repairs }) => problems.length + repairs.length > 0 || damaged.has(drive.changeId),
    );
    await saveHistories(cluster, unusual, stateDir);
    report({ found, unknown, seed, cluster, queries, ms: Date.now() - began });
    const violations = unknown.length + found.reduce((sum, { problems }) => sum + problems.length, 0);
    const terminal = found.filter(({ state }) => state !== 'open').length;
    const result = { runs: drives.length, seed, violations, terminal, ...repairsIn(found), queries, replay };
    process.stdout.write(`${JSON.stringify(result)}\n`);
    // A sweep that was interrupted before its first review has shown nothing.
    const complete = drives.length > 0 && terminal === drives.length && replay.replays === drives.length;
    isKept = unusual.length > 0 || violations > 0 || !complete;
    return violations === 0 && complete ? 0 : 1;
  } finally {
    await cluster.stop();
    if (!isKept) rmSync(stateDir, { recursive: true, force: true });
    else say(`Data and logs are kept in ${stateDir}`);
  }
}

/** Groups that run one after the other, because few reviews may be open while a server is killed. */
function selectCases(only: readonly string[], isExhaustive: boolean, runs: number, seed: number): Case[][] {
  // Neighbours in the matrix kill the same worker.
  const mixed = (cases: readonly Case[]): Case[] => shuffled(seededRandom(seed), cases);
  const others = [otherTarget('git'), otherTarget('http')];
  const named = [...exhaustive(), ...environment(), ...others.flat(), ...sample()];
  if (only.length === 0) {
    const randoms = Array.from({ length: runs }, (_, i) => random(seed, i));
    return isExhaustive ? [mixed(exhaustive()), environment(), ...others, randoms] : [randoms];
  }
  return [
    only.flatMap((name) => {
      if (/^\d+$/.test(name)) return [random(seed, Number(name))];
      const found = named.filter((each) => each.name === name || each.name.startsWith(`${name}:`));
      if (found.length === 0)
        throw new UsageError(
          `--only ${name}: expected the number of a random run, or a name such as ${named[0]?.name ?? ''}`,
        );
      return found;
    }),
  ];
}

async function drive(
  cluster: Cluster,
  cases: readonly Case[],
  open: number,
  firstRow: number,
): Promise<ReviewDriver[]> {
  const killsServers =
    cases.some((each) => each.faults.some((f) => f.action === 'postgres' || f.action === 'temporal')) &&
    cases.length < 60;
  // A git patch must match the tip of the branch. An HTTP change whose committer is killed by another case between its row and its request
  // is not sent again, and would not reach its failpoint. So these run one at a time.
  const lanes = cases.some((each) => /^(?:git|http)/.test(each.scenario)) ? 1 : killsServers ? 4 : open;
  const drives: ReviewDriver[] = [];
  const began = Date.now();
  const timer = setInterval(
    () =>
      say(
        `${drives.length} of ${cases.length} ended after ${Math.round((Date.now() - began) / 1000)} s; restarts: ${JSON.stringify(cluster.restarts)}`,
      ),
    10_000,
  );
  await inParallel([...cases.entries()], lanes, async ([i, each]) => {
    if (!stopRequested) drives.push(await ReviewDriver.run(cluster, each, firstRow + i + 1, `${firstRow + i}`));
  });
  clearInterval(timer);
  return drives;
}

async function checkReviews(cluster: Cluster, drives: readonly ReviewDriver[]): Promise<CheckedReview[]> {
  const committer = cluster.setup.keys.committer.key.publicKey;
  const observed = await observe(cluster, drives);
  return drives.map((drive, i): CheckedReview => {
    const seen = observed[i];
    if (seen === undefined) throw new Error(`Review ${drive.of.name} was not observed`);
    const outcome = seen.workflow?.outcome?.['state'];
    const problems = [...violationsOf(seen, committer), ...scenarioViolations(seen, drive.of.scenario)];
    if (drive.of.allowed !== null) problems.push(...outcomeDifferences(seen, drive.of.allowed));
    const unreached = cluster.faultController.unreached(drive.changeId);
    // A matrix case whose failpoint was not reached proves nothing.
    const isMatrix = !/^\d+$/.test(drive.of.name);
    if (isMatrix && unreached.length > 0) problems.push(`the failpoint was never reached: ${unreached.join(', ')}`);
    return {
      drive,
      problems,
      repairs: repairsOf(seen),
      state: seen.workflow?.status === 'COMPLETED' ? String(outcome) : 'open',
    };
  });
}

interface Repairs {
  /** How many reviews the reconciler reset, and how many it ended. */
  readonly repaired: { readonly reset: number; readonly ended: number };
  readonly repairs: readonly (Repaired & { readonly run: string; readonly changeId: string; readonly state: string })[];
}

/** What the reconciler did, by its rows. Nothing else repairs a review: K5 finds a reset without a row. */
function repairsIn(found: readonly CheckedReview[]): Repairs {
  const reviewsWith = (what: string): number =>
    found.filter(({ repairs }) => repairs.some(({ did }) => did === what)).length;
  return {
    repaired: { reset: reviewsWith('reset'), ended: reviewsWith('ended') },
    repairs: found.flatMap(({ drive, repairs, state }) =>
      repairs.map((repair) => ({ run: drive.of.name, changeId: drive.changeId, state, ...repair })),
    ),
  };
}

/** How many histories replay, and which do not. A review can end with one that does not, if no worker lost it from its cache. */
async function replayAll(
  cluster: Cluster,
  drives: readonly ReviewDriver[],
): Promise<{ readonly replay: Record<Replayed['result'], number>; readonly damaged: ReadonlySet<string> }> {
  installQuietRuntime();
  const replay = { replays: 0, damaged: 0, skipped: 0, failed: 0 };
  const damaged = new Set<string>();
  const histories = replayHistories({
    client: cluster.temporal,
    changeIds: drives.map(({ changeId }) => changeId),
    worker: { workflowBundle: { code: readFileSync(cluster.workflowBundle, 'utf8') } },
    buildId: null,
    workflowType: REVIEW_WORKFLOW,
  });
  for await (const { result, changeId, why } of histories) {
    replay[result]++;
    if (result !== 'damaged' && result !== 'failed') continue;
    damaged.add(changeId);
    const run = drives.find((drive) => drive.changeId === changeId)?.of.name ?? '';
    say(`The history of run ${run}, change ${changeId}, does not replay: ${why}`);
  }
  return { replay, damaged };
}

/** Writes histories to files, because the servers stop with the sweep. */
async function saveHistories(cluster: Cluster, found: readonly CheckedReview[], stateDir: string): Promise<void> {
  for (const { drive } of found) {
    const handle = cluster.temporal.workflow.getHandle(drive.changeId);
    const [{ raw }, history] = await Promise.all([handle.describe(), handle.fetchHistory()]);
    const file = join(stateDir, `history-${drive.of.name.replaceAll(':', '-')}.json`);
    writeFileSync(file, JSON.stringify({ now: raw, history: JSON.parse(historyToJSON(history)) as unknown }, null, 1));
  }
}

function report({
  found,
  unknown,
  seed,
  cluster,
  queries,
  ms,
}: {
  readonly found: readonly CheckedReview[];
  readonly unknown: readonly string[];
  readonly seed: number;
  readonly cluster: Cluster;
  readonly queries: QueryCounts;
  readonly ms: number;
}): void {
  for (const { drive, problems } of found) {
    if (problems.length === 0) continue;
    const { name, scenario, faults } = drive.of;
    say(`\n${name} (${scenario}), change ${drive.changeId}, row ${drive.row}`);
    for (const problem of problems) say(`  ${problem}`);
    if (drive.lastError !== '') say(`  last error: ${drive.lastError}`);
    say(`  faults: ${faults.map((f) => `${f.point}:${f.when}:${f.action}`).join(', ')}`);
    say(`  replay: npm run sweep -- --seed ${seed} --only ${name}`);
  }
  for (const problem of unknown) say(problem);
  const counted = new Map<string, number>();
  for (const { drive, state } of found) {
    const key = `${drive.of.scenario} → ${state}${state === expectedState(drive.of.scenario) ? '' : ' (!)'}`;
    counted.set(key, (counted.get(key) ?? 0) + 1);
  }
  for (const [key, count] of [...counted].sort()) say(`${String(count).padStart(6)}  ${key}`);
  const actions = found.flatMap(({ drive }) => drive.of.faults.map((f) => f.action));
  say(
    `Faults: ${[...ACTIONS, 'stop', 'postgres', 'temporal'].map((a) => `${a} ${actions.filter((x) => x === a).length}`).join(', ')}`,
  );
  for (const { run, changeId, did, found: what, explanation } of repairsIn(found).repairs)
    say(`The reconciler: ${did}, found ${what}: run ${run}, change ${changeId}: ${explanation}`);
  const { answered, ranAhead, timedOut, failed } = queries;
  say(`Queries: ${answered} answered, ${ranAhead} refused as RAN_AHEAD, ${timedOut} timed out, ${failed} failed`);
  say(`Restarts: ${JSON.stringify(cluster.restarts)}; ${Math.round(ms / 1000)} s`);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (stopRequested) process.exit(130);
    stopRequested = true;
    say('Stopping: no further review is started. Interrupt again to exit at once.');
  });
runProgram(main);
