/**
 * `npm run bench`: measures reviews on the real servers and, in the same run, two floors: a workflow with the steps of a review, which do
 * nothing, and a fixed one, which is the same in all versions.
 * `npm run bench -- --profile`: the ten dearest functions of each process instead. `npm run bench -- rules`: rules alone.
 * Progress goes to standard error; with --json the last line of standard output is one object.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startScriptedJudge } from '../examples/demo/scripted-judge';
import { openDevClient, type DevClient } from '../dev/client';
import { startDev, type Dev } from '../dev/start';
import type { Figures } from './figures';
import { measureFixedFloor, measureFloor } from './floors';
import { benchRules } from './rules';
import { machine, seedItems } from './measure';
import { dearestFunctions, profiled, profilingArguments, readProfiles } from './profile';
import { measureReviews, ROWS } from './reviews';
import { shopPolicy } from './shop-policy';
import { reportFailure } from '../dev/report-failure';

interface Options {
  readonly json: boolean;
  readonly reviews: number;
  readonly open: number;
  /** Prints the dearest functions of each process instead of the floors: profiling slows everything down. */
  readonly profile: boolean;
}

async function main({ json, reviews, open, profile }: Options): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const stateDir = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
  const profiles = join(stateDir, 'profiles');
  const judge = await startScriptedJudge({ script: () => ({}) });
  const dev = await startDev({
    stateDir,
    say,
    bundleText: shopPolicy(),
    targets: [{ name: 'shop', database: 'shop', schemas: ['public'], seed: seedItems(ROWS) }],
    judge: { baseUrl: judge.baseUrl, apiKey: 'scripted' },
    judgeRequestsPerSecond: 1000,
    breakers: false,
    ...(profile ? { nodeArguments: profilingArguments(profiles) } : {}),
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
    const count = { total: reviews, open };
    if (profile) return await printProfiles({ dev, client, count, profiles, say });
    const review = await measureReviews(dev, client, count);
    say('Floor of equal shape: as many activities, local activities and messages, which do nothing');
    const floor = await measureFloor(dev, temporal, count);
    say('Fixed floor: the cheapest workflow with the steps of a review');
    const fixedFloor = await measureFixedFloor(dev, temporal, count);
    const measured = { review, floor, fixedFloor };
    for (const [name, each] of Object.entries(measured)) say(summaryOf(name, each));
    const ratioToFloor = ratio(review.perSecond, floor.perSecond);
    const ratioToFixedFloor = ratio(review.perSecond, fixedFloor.perSecond);
    say(`throughput is ${ratioToFloor} of the floor, ${ratioToFixedFloor} of the fixed floor`);
    if (floor.actions !== review.actions)
      say(`The floor has ${floor.actions} actions, a review ${review.actions}: floor-workflow.ts has an older shape`);
    const { cpuMsByProcess } = review;
    const of = { machine: machine(), reviews, open };
    if (json)
      process.stdout.write(
        `${JSON.stringify({ ...of, ratioToFloor, ratioToFixedFloor, cpuMsByProcess, ...measured })}\n`,
      );
    await client.close();
  } finally {
    await dev.stop();
    await judge.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Node writes the profile of a process when it ends, so this stops the workers. */
async function printProfiles(of: {
  readonly dev: Dev;
  readonly client: DevClient;
  readonly count: { readonly total: number; readonly open: number };
  readonly profiles: string;
  readonly say: (line: string) => void;
}): Promise<void> {
  const { dev, client, count, profiles, say } = of;
  const { result, profile } = await profiled(() => measureReviews(dev, client, count));
  await client.close();
  await Promise.all(Object.values(dev.processes).map((each) => each.stop()));
  const pids = Object.fromEntries(Object.entries(dev.processes).map(([name, { pid }]) => [name, pid]));
  say(summaryOf('profiled', result));
  for (const [name, each] of [['client', profile] as const, ...readProfiles(profiles, pids)])
    say([`${name}:`, ...dearestFunctions(each)].join('\n  '));
}

function ratio(part: number, whole: number): number {
  return Math.round((part / whole) * 1000) / 1000;
}

function summaryOf(name: string, f: Figures): string {
  const latency = ({ p50, p95, p99 }: Figures['submitToPreflightMs']): string => `p50 ${p50} p95 ${p95} p99 ${p99} ms`;
  const cpu = Object.entries(f.cpuMsByProcess).map(([process, ms]) => `${process} ${ms}`);
  return [
    `${name.padEnd(10)} ${f.perSecond.toFixed(1)}/s`,
    `submit → preflight ${latency(f.submitToPreflightMs)}`,
    `last answer → committed ${latency(f.lastAnswerToCommittedMs)}`,
    `${f.events} events, ${f.historyBytes} bytes, ${f.actions} actions`,
    `CPU ms: ${cpu.join(', ')}`,
  ].join(' · ');
}

const { values, positionals } = parseArgs({
  options: {
    json: { type: 'boolean' },
    reviews: { type: 'string' },
    open: { type: 'string' },
    profile: { type: 'boolean' },
  },
  allowPositionals: true,
});
const [which = 'reviews'] = positionals;
const json = values.json === true;
const bench = {
  reviews: () =>
    main({
      json,
      reviews: Number(values.reviews ?? 300),
      open: Number(values.open ?? 30),
      profile: values.profile === true,
    }),
  rules: () => benchRules(json),
}[which];
if (bench === undefined) {
  process.stderr.write(`bench: expected reviews (the default) or rules, got "${which}"\n`);
  process.exitCode = 2;
} else bench().catch(reportFailure);
