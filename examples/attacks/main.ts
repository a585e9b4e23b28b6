/**
 * `npm run attacks`: what one who can write to the Temporal namespace tries, on real servers and our real processes. Talk
 * goes to standard error; with --json one line goes to standard output. Ends with 1 where an attack had an effect, or where
 * the ledger lacks the refusal.
 */
import { parseArgs } from 'node:util';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import Table from 'cli-table3';
import { topUp, type Attack, type Attempt } from './attack';
import { ANSWERS } from './attacks/answers';
import { COMPLETIONS } from './attacks/completions';
import { DIRECT } from './attacks/direct';
import { LIFECYCLE } from './attacks/lifecycle';
import { REPLAYS } from './attacks/replays';
import { Ground, type Row } from './ground';
import { RaceLost } from './namespace-writer';

const ATTACKS: readonly Attack[] = [...ANSWERS, ...REPLAYS, ...LIFECYCLE, ...COMPLETIONS, ...DIRECT];

interface Told {
  readonly name: string;
  readonly effect: boolean;
  readonly refusalInLedger: boolean | null;
  readonly shownAs?: 'unverified' | 'verified';
  /** The attack could not be made, and so has shown nothing. */
  readonly notMade?: string;
}

interface Options {
  readonly json: boolean;
  /** Attacks whose name holds one of these. */
  readonly only: readonly string[];
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(options: Options): Promise<number> {
  const attacks = ATTACKS.filter(({ name }) => options.only.some((words) => name.includes(words)));
  const ground = await Ground.start(say);
  try {
    await control(ground);
    const told: Told[] = [];
    for (const attack of attacks) {
      const began = Date.now();
      const made = await attempt(ground, attack).catch((error: unknown) => notMade(ground, attack, error));
      const word = made.notMade !== undefined ? 'NOT MADE ' : withstood(made) ? 'withstood' : 'SUCCEEDED';
      say(`${word}  ${attack.name}  (${Date.now() - began} ms)`);
      told.push(made);
    }
    report(told);
    if (options.json) process.stdout.write(`${JSON.stringify({ attacks: told })}\n`);
    return told.length > 0 && told.every(withstood) ? 0 : 1;
  } finally {
    await ground.close();
  }
}

/** An honest change commits, and is seen: else nothing below would show anything. */
async function control(ground: Ground): Promise<void> {
  await ground.baseline();
  const result = await ground.ended(await ground.submit(topUp(30)));
  if (result.state !== 'COMMITTED' || result.verified !== true || !(await ground.changed()))
    throw new Error(
      `An honest change is ${result.state}, and its effect ${(await ground.changed()) ? 'is' : 'is not'} seen`,
    );
  say('\nAn honest change commits, and the reader of the target sees it');
}

async function attempt(ground: Ground, { name, run }: Attack): Promise<Told> {
  const { changeId, refusal, forged = false } = await untilMade(ground, run);
  const shownAs = forged ? { shownAs: await ground.shownAs(changeId) } : {};
  const refusalInLedger = refusal === null ? null : (await ground.rows(changeId)).some(refusal);
  const told = { name, effect: await ground.changed(), refusalInLedger, ...shownAs };
  if (refusalInLedger === false) for (const row of await ground.rows(changeId)) sayRow(row);
  return told;
}

async function notMade(ground: Ground, { name }: Attack, error: unknown): Promise<Told> {
  const why = error instanceof Error ? error.message : String(error);
  say(`${why}${error instanceof RaceLost ? '' : `\n${error instanceof Error ? error.stack : ''}`}`);
  return { name, effect: await ground.changed(), refusalInLedger: false, notMade: why.split('\n', 1)[0] ?? '' };
}

/** An attacker who was too slow tries again. */
async function untilMade(ground: Ground, run: Attack['run'], tries = 8): Promise<Attempt> {
  await ground.baseline();
  try {
    return await run(ground);
  } catch (error) {
    if (!(error instanceof RaceLost) || tries === 1 || (await ground.changed())) throw error;
    return untilMade(ground, run, tries - 1);
  }
}

function sayRow({ kind, body }: Row): void {
  if (kind !== 'findings' && kind !== 'attested')
    say(`    ${kind} ${JSON.stringify([body['check'], body['code'], body['explanation'] ?? body['message']])}`);
}

function withstood({ effect, refusalInLedger, shownAs }: Told): boolean {
  return (
    !effect &&
    refusalInLedger !== false &&
    shownAs !== 'verified' &&
    (refusalInLedger === true || shownAs !== undefined)
  );
}

function report(told: readonly Told[]): void {
  const table = new Table({
    head: ['attack', 'effect', 'refusal in the ledger', 'shown as'],
    style: { head: [], border: [] },
  });
  for (const { name, effect, refusalInLedger, shownAs } of told) {
    const ledger = refusalInLedger === null ? 'nothing of ours was reached' : refusalInLedger ? 'yes' : 'NO';
    table.push([name, effect ? 'YES' : 'none', ledger, shownAs ?? '']);
  }
  say(`\n${table.toString()}\n${told.filter(withstood).length} of ${told.length} attacks withstood`);
}

function readOptions(): Options | null {
  try {
    const { values } = parseArgs({ options: { json: { type: 'boolean' }, only: { type: 'string', multiple: true } } });
    return { json: values.json === true, only: values.only ?? [''] };
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\nusage: npm run attacks -- [--json] [--only WORDS]`);
    return null;
  }
}

const options = readOptions();
if (options === null) process.exitCode = 2;
else {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  main(options).then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      say(error instanceof Error ? (error.stack ?? error.message) : String(error));
      process.exitCode = 1;
    },
  );
}
