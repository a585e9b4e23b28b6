/**
 * `npm run bench`: measures reviews on the real servers and, in the same run, two floors: a workflow with the steps of a review, which do
 * nothing, and a fixed one, which is the same in all versions.
 * `npm run bench -- --profile`: the ten most expensive functions of each process instead. `npm run bench -- rules`: rules alone.
 * Progress goes to standard error; with --json the last line of standard output is one object.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runProgram, say, UsageError, wholeNumber } from '../dev/run-program';
import type { Figures } from './figures';
import { measureFixedFloor, measureFloor } from './floors';
import { benchRules } from './rules';
import { machine } from './measure';
import { mostExpensiveFunctions, profiled, profilingArguments, readProfiles } from './profile';
import { measureReviews, ROWS } from './reviews';
import { processIds, withShop } from './with-shop';

interface Options {
  readonly json: boolean;
  readonly reviews: number;
  readonly open: number;
}

async function benchReviews({ json, reviews, open }: Options): Promise<void> {
  await withShop({ say, rows: ROWS }, async ({ dev, client }) => {
    const { temporal } = client;
    say(`Machine: ${machine()}`);
    say(`Reviews: ${reviews}, ${open} open at once; then one at a time`);
    const count = { total: reviews, open };
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
  });
}

/** The most expensive functions of each process instead of the floors: profiling slows everything down. */
async function profileReviews({ reviews, open }: Options): Promise<void> {
  const profilesOf = (stateDir: string): string => join(stateDir, 'profiles');
  const nodeArguments = (stateDir: string) => profilingArguments(profilesOf(stateDir));
  await withShop({ say, rows: ROWS, nodeArguments }, async ({ dev, client, stateDir }) => {
    const { result, profile } = await profiled(() => measureReviews(dev, client, { total: reviews, open }));
    // Node writes the profile of a process when it ends.
    await Promise.all(Object.values(dev.processes).map((each) => each.stop()));
    say(summaryOf('profiled', result));
    const profiles = readProfiles(profilesOf(stateDir), processIds(dev));
    for (const [name, each] of [['client', profile] as const, ...profiles])
      say([`${name}:`, ...mostExpensiveFunctions(each)].join('\n  '));
  });
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

runProgram(async () => {
  const { values, positionals } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      reviews: { type: 'string', default: '300' },
      open: { type: 'string', default: '30' },
      profile: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const [which = 'reviews'] = positionals;
  const { json } = values;
  if (which === 'rules') return benchRules(json);
  if (which !== 'reviews') throw new UsageError(`bench: expected reviews (the default) or rules, got "${which}"`);
  const options = { json, reviews: wholeNumber('--reviews', values.reviews), open: wholeNumber('--open', values.open) };
  return values.profile ? profileReviews(options) : benchReviews(options);
});
