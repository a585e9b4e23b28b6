/**
 * `npm run attacks [-- --json] [--only WORDS]… [--part I/N] [--shuffle SEED]`: attacks by someone with write access to the Temporal
 * namespace, on real servers and our real processes. `--part 2/6`: the 2nd of them, the 8th, the 14th and so on.
 * Progress goes to standard error; with --json one line goes to standard output. Exits 1 if an attack had an effect or if a
 * refusal is missing from the ledger, or if it left something behind that others could find.
 */
import { inspect, parseArgs } from 'node:util';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { runProgram, say } from '../../dev/run-program';
import Table from 'cli-table3';
import { refuser, topUp, type Attack, type Attempt } from './attack';
import { ADMISSION } from './attacks/admission';
import { ANSWERS } from './attacks/answers';
import { BREAKERS } from './attacks/breakers';
import { COMPLETIONS, DECEPTIONS } from './attacks/completions';
import { DIRECT } from './attacks/direct';
import { DRY_RUN } from './attacks/dry-run';
import { GATEWAY } from './attacks/gateway';
import { FACTS } from './attacks/facts';
import { LIFECYCLE } from './attacks/lifecycle';
import { METADATA } from './attacks/metadata';
import { RECEIPTS } from './attacks/receipts';
import { LIVENESS } from './attacks/liveness';
import { REPLAYS } from './attacks/replays';
import { STATEMENTS } from './attacks/statements';
import { SECOND_READER_EFFECTS } from './attacks/second-reader/effects';
import { OPERATOR } from './attacks/second-reader/operator';
import { ORDERINGS } from './attacks/second-reader/orderings';
import { ROWS } from './attacks/second-reader/rows';
import { STATE } from './attacks/second-reader/state';
import { VERIFIED } from './attacks/verified';
import { Testbed, type Row } from './testbed';
import { RaceLost } from './namespace-writer';
import { partOf, shuffled } from './order';
import { SharedState } from './shared-state';
import { shownAs } from './shown-as';

const ATTACKS: readonly Attack[] = [
  ...ANSWERS,
  ...ADMISSION,
  ...REPLAYS,
  ...LIFECYCLE,
  ...COMPLETIONS,
  ...DIRECT,
  ...DRY_RUN,
  ...VERIFIED,
  ...GATEWAY,
  ...RECEIPTS,
  ...METADATA,
  ...FACTS,
  ...BREAKERS,
  ...STATEMENTS,
  ...ORDERINGS,
  ...STATE,
  ...ROWS,
  ...OPERATOR,
  ...SECOND_READER_EFFECTS,
  ...DECEPTIONS,
  ...LIVENESS,
];

interface AttackReport {
  readonly name: string;
  readonly effect: boolean;
  readonly refusalInLedger: boolean | null;
  /** The check that refused, or what went on in spite of the attack; null if it was not seen. */
  readonly refusedBy: string | null;
  /** What the attack achieved other than an effect; null if nothing, absent if it has no check of this. */
  readonly achieved?: string | null;
  readonly shownAs?: 'unverified' | 'verified';
  /** The parts of the shared state that are not as they were before the attack. */
  readonly leftBehind?: readonly string[];
  /** Why the attack could not be carried out; it then proves nothing. */
  readonly notRun?: string;
}

interface Options {
  readonly json: boolean;
  /** Runs the attacks whose name contains one of these texts. */
  readonly only: readonly string[];
  /** Runs every n-th of them, from the i-th on, for `i/n`. */
  readonly part: string;
  /** Runs the attacks in the order of this seed. */
  readonly shuffle: string | null;
}

async function main(options: Options): Promise<number> {
  const named = ATTACKS.filter(({ name }) => options.only.some((words) => name.includes(words)));
  const chosen = partOf(named, options.part);
  const attacks = options.shuffle === null ? chosen : shuffled(chosen, options.shuffle);
  const testbed = await Testbed.start(say);
  try {
    await control(testbed);
    const shared = await SharedState.of(testbed);
    const reports: AttackReport[] = [];
    for (const attack of attacks) {
      const began = Date.now();
      await testbed.reconcile(attack.reconciles ?? 'as shipped');
      const alone = await attempt(testbed, shared, attack).catch((error: unknown) => notRun(testbed, attack, error));
      const result = { ...alone, leftBehind: await shared.restore() };
      if (result.leftBehind.length > 0) say(`    It left behind: ${result.leftBehind.join(', ')}`);
      const word = result.notRun !== undefined ? 'NOT RUN  ' : withstood(result) ? 'withstood' : 'SUCCEEDED';
      say(`${word}  ${attack.name}  (${Date.now() - began} ms)`);
      reports.push(result);
    }
    print(reports);
    if (options.json) process.stdout.write(`${JSON.stringify({ attacks: reports })}\n`);
    return reports.length > 0 && reports.every(withstood) ? 0 : 1;
  } finally {
    await testbed.close();
  }
}

/** Control: a legitimate change commits and its effect is detected. Otherwise the attacks would prove nothing. */
async function control(testbed: Testbed): Promise<void> {
  await testbed.baseline();
  const result = await testbed.ended(await testbed.submit(topUp(30)));
  if (result.state !== 'COMMITTED' || result.verified !== true || !(await testbed.targetChanged()))
    throw new Error(
      `Expected a legitimate change to commit: it is ${result.state}, and its effect ${(await testbed.targetChanged()) ? 'was' : 'was not'} detected`,
    );
  say('\nControl: a legitimate change commits, and its effect is detected');
}

async function attempt(testbed: Testbed, shared: SharedState, { name, run }: Attack): Promise<AttackReport> {
  const before = await testbed.lastRow();
  const { changeId, refusal, by = null, forged = null, achieved } = await retryLostRaces(testbed, shared, run);
  const shown = forged === null ? {} : { shownAs: await shownAs(testbed, changeId, forged) };
  const row = refusal === null ? null : ((await testbed.rows(changeId)).find(refusal) ?? null);
  const refusalInLedger = refusal === null ? null : row !== null;
  if (typeof achieved === 'string') say(`    ${achieved}`);
  const refusedBy = row === null ? (by ?? forged) : refuser(row);
  const result = {
    name,
    effect: await testbed.targetChanged(),
    refusalInLedger,
    refusedBy,
    ...(achieved !== undefined && { achieved }),
    ...shown,
  };
  if (result.effect) for (const line of await testbed.effectsSince(before)) say(`    ${line}`);
  if (refusalInLedger === false) for (const row of await testbed.rows(changeId)) printRow(row);
  return result;
}

async function notRun(testbed: Testbed, { name }: Attack, error: unknown): Promise<AttackReport> {
  const why = error instanceof Error ? error.message : String(error);
  say(error instanceof RaceLost ? why : inspect(error));
  return {
    name,
    effect: await testbed.targetChanged(),
    refusalInLedger: false,
    refusedBy: null,
    notRun: why.split('\n', 1)[0] ?? '',
  };
}

/** Retries an attack that lost a race against our workers. */
async function retryLostRaces(testbed: Testbed, shared: SharedState, run: Attack['run'], tries = 8): Promise<Attempt> {
  await testbed.baseline();
  try {
    return await run(testbed);
  } catch (error) {
    if (!(error instanceof RaceLost) || tries === 1 || (await testbed.targetChanged())) throw error;
    await shared.restore();
    return retryLostRaces(testbed, shared, run, tries - 1);
  }
}

function printRow({ kind, body }: Row): void {
  if (kind !== 'findings' && kind !== 'attested')
    say(`    ${kind} ${JSON.stringify([body['check'], body['code'], body['explanation'] ?? body['message']])}`);
}

function withstood(report: AttackReport): boolean {
  const { effect, refusalInLedger, refusedBy, achieved, shownAs, leftBehind } = report;
  return (
    !effect &&
    refusedBy !== null &&
    leftBehind?.length === 0 &&
    typeof achieved !== 'string' &&
    refusalInLedger !== false &&
    shownAs !== 'verified' &&
    (refusalInLedger === true || shownAs !== undefined || achieved === null)
  );
}

function print(reports: readonly AttackReport[]): void {
  const head = ['attack', 'effect', 'refusal in the ledger', 'refused by'];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const { name, effect, refusalInLedger, refusedBy, shownAs } of reports) {
    const ledger = refusalInLedger === null ? 'not applicable' : refusalInLedger ? 'yes' : 'NO';
    const by = [refusedBy ?? 'UNKNOWN', ...(shownAs === undefined ? [] : [`shown as ${shownAs}`])];
    table.push([name, effect ? 'YES' : 'none', ledger, by.join(', ')]);
  }
  say(`\n${table.toString()}\n${reports.filter(withstood).length} of ${reports.length} attacks withstood`);
}

runProgram(() => {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [''] },
      part: { type: 'string', default: '1/1' },
      shuffle: { type: 'string' },
    },
  });
  Runtime.install({ logger: new DefaultLogger('WARN') });
  return main({ json: values.json, only: values.only, part: values.part, shuffle: values.shuffle ?? null });
});
