/**
 * `npm run bench:ledger -- --rows 1000000`: what grows with the ledger. Measures append, list, show, checkpoint and proof on a small ledger
 * and on one with this many rows, in turns, on an embedded PostgreSQL, and how many rows a second the verification of the whole ledger reads.
 * Progress goes to standard error; with --json the last line of standard output is one object.
 */
import { readOptions, runProgram, say, wholeNumber } from '../dev/run-program';
import { withTemporaryPostgres } from '../dev/temporary';
import { sha256HexOfText } from '../policy/contracts/hash';
import { committerKeys } from '../signing/committer-keys';
import { newKeyPair, type SigningKey } from '../signing/keys';
import { openDatabase, type Database } from '../storage/database/database';
import { migrate } from '../storage/database/migrate';
import { createCheckpointer } from '../storage/ledger/checkpoint';
import { inclusionReader } from '../storage/ledger/inclusion';
import { createLedger } from '../storage/ledger/ledger';
import { verifyLedger } from '../storage/ledger/verify-ledger';
import { fillLedger, ROWS_OF_A_REVIEW, type Filled } from './fill-ledger';
import { machine, spread, type Spread } from './measure';

const SAMPLES = 200;

/** Milliseconds of each part. */
interface Times {
  readonly append: number[];
  readonly checkpoint: number[];
  readonly show: number[];
  readonly list: number[];
  readonly proof: number[];
  readonly earlierRejects: number[];
}
type Parts = Readonly<Record<keyof Times, Spread>>;

/** The rows with which the large ledger is compared. */
const SMALL = 20_000;

async function main(rows: number, json: boolean): Promise<void> {
  await withTemporaryPostgres('bench-ledger', { say }, async (postgres) => {
    say(`Machine: ${machine()}`);
    const key = newKeyPair();
    const open = async (name: string, count: number): Promise<{ readonly db: Database; readonly filled: Filled }> => {
      await postgres.createDatabase(name);
      const url = postgres.superuserUrl(name);
      await migrate(url, { roles: {} });
      const db = openDatabase({ url, applicationName: 'bench', statementTimeoutMs: 600_000 });
      const filled = await fillLedger(db, url, key, count, say);
      say(`${name}: appended ${filled.rowsPerSecond} rows/s, ${filled.databaseMiB} MiB`);
      return { db, filled };
    };
    const small = await open('small', SMALL);
    const large = await open('large', rows);
    const times = { small: noTimes(), large: noTimes() };
    // One after the other, so that other load of the machine slows both.
    for (let i = 0; i < SAMPLES; i++) {
      await measure(small.db, key, i, times.small);
      await measure(large.db, key, i, times.large);
    }
    const parts = { small: spreads(times.small), large: spreads(times.large) };
    say(`${SMALL} rows: ${summary(parts.small)}`);
    say(`${rows} rows: ${summary(parts.large)}`);
    const verifiedRowsPerSecond = { small: await verify(small.db, key), large: await verify(large.db, key) };
    say(`verified rows/s: ${JSON.stringify(verifiedRowsPerSecond)}`);
    const result = { machine: machine(), rows, ...parts, filled: large.filled, verifiedRowsPerSecond };
    if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
    await Promise.all([small.db.close(), large.db.close()]);
  });
}

function noTimes(): Times {
  return { append: [], checkpoint: [], show: [], list: [], proof: [], earlierRejects: [] };
}

async function measure(db: Database, key: SigningKey, i: number, times: Times): Promise<void> {
  const ledger = createLedger(db);
  const reader = inclusionReader(db);
  const checkpointer = createCheckpointer({ db, key, now: () => new Date() });
  const timed = async (what: keyof Times, work: () => Promise<unknown>): Promise<void> => {
    const began = performance.now();
    await work();
    times[what].push(performance.now() - began);
  };
  const changeId = sha256HexOfText(`measured ${i}`);
  const at = new Date().toISOString();
  const entries = Array.from({ length: ROWS_OF_A_REVIEW }, (_, n) => ({
    kind: 'findings' as const,
    at,
    body: { text: 'x'.repeat(400) },
    factKey: `fact ${n}`,
  }));
  await timed('append', () => ledger.append(changeId, entries));
  await timed('checkpoint', () => checkpointer.checkpoint());
  await timed('show', () => ledger.read(changeId));
  await timed('list', () => ledger.listReviews({ limit: 50 }));
  await timed('proof', () => reader.covering(changeId, ROWS_OF_A_REVIEW));
  await timed('earlierRejects', () => ledger.rejectedInputs({ inputSha: changeId, factsSha: changeId }, changeId));
}

function spreads(times: Times): Parts {
  return Object.fromEntries(Object.entries(times).map(([what, samples]) => [what, spread(samples)])) as Parts;
}

async function verify(db: Database, { publicKey }: SigningKey): Promise<number> {
  const began = performance.now();
  const report = await verifyLedger(db, { keys: committerKeys([publicKey]), development: false });
  if (!report.ok) throw new Error(`The ledger does not verify: ${report.problems.slice(0, 3).join('\n')}`);
  return Math.round(report.rows / ((performance.now() - began) / 1000));
}

function summary(parts: Parts): string {
  return Object.entries(parts)
    .map(([what, { p50, p95 }]) => `${what} p50 ${p50} p95 ${p95} ms`)
    .join(', ');
}

runProgram(() => {
  const { rows, json } = readOptions({ rows: '1000000' });
  return main(wholeNumber('--rows', rows), json);
});
