/**
 * `npm run bench:ledger -- --rows 1000000`: what grows with the ledger. Measures append, list, show, checkpoint and proof on an empty ledger
 * and on one with this many rows, on an embedded PostgreSQL, and how many rows a second the verification of the whole ledger reads.
 * Progress goes to standard error; with --json the last line of standard output is one object.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startRuntime } from '../dev/embedded';
import { sha256HexOfText } from '../policy/contracts/hash';
import { newKeyPair, type SigningKey } from '../signing/keys';
import { openDatabase, type Database } from '../storage/database/database';
import { migrate } from '../storage/database/migrate';
import { createCheckpointer } from '../storage/ledger/checkpoint';
import { inclusionReader } from '../storage/ledger/inclusion';
import { createLedger } from '../storage/ledger/ledger';
import { verifyLedger } from '../storage/ledger/verify-ledger';
import { fillLedger, ROWS_OF_A_REVIEW } from './fill-ledger';
import { machine, spread, type Spread } from './measure';

const SAMPLES = 200;

/** What each part takes with this many rows, in milliseconds. */
interface Figures {
  readonly rows: number;
  readonly append: Spread;
  readonly list: Spread;
  readonly show: Spread;
  readonly checkpoint: Spread;
  readonly proof: Spread;
  readonly earlierRejects: Spread;
  readonly verifiedRowsPerSecond: number;
}

async function main(rows: number, json: boolean): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const stateDir = mkdtempSync(join(tmpdir(), 'countersign-bench-ledger-'));
  const runtime = await startRuntime({
    stateDir,
    say,
    searchAttributes: {},
    postgresPort: 0,
    temporalPort: 0,
    uiPort: 0,
  });
  try {
    await runtime.postgres.createDatabase('ledger');
    const url = runtime.postgres.superuserUrl('ledger');
    await migrate(url, { roles: {} });
    const db = openDatabase({ url, applicationName: 'bench', statementTimeoutMs: 600_000 });
    say(`Machine: ${machine()}`);
    const key = newKeyPair();
    const empty = await measure(db, key, 'empty');
    say(summary(empty));
    const filled = await fillLedger(db, url, key, rows, say);
    say(`appended ${filled.rowsPerSecond} rows/s; database of ${filled.databaseMiB} MiB`);
    const full = await measure(db, key, 'full');
    say(summary(full));
    if (json) process.stdout.write(`${JSON.stringify({ machine: machine(), empty, filled, full })}\n`);
    await db.close();
  } finally {
    await runtime.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function measure(db: Database, key: SigningKey, name: string): Promise<Figures> {
  const ledger = createLedger(db);
  const reader = inclusionReader(db);
  const checkpointer = createCheckpointer({ db, key, now: () => new Date() });
  const times: Record<Exclude<keyof Figures, 'rows' | 'verifiedRowsPerSecond'>, number[]> = {
    append: [],
    list: [],
    show: [],
    checkpoint: [],
    proof: [],
    earlierRejects: [],
  };
  const timed = async (what: keyof typeof times, work: () => Promise<unknown>): Promise<void> => {
    const began = performance.now();
    await work();
    times[what].push(performance.now() - began);
  };
  for (let i = 0; i < SAMPLES; i++) {
    const changeId = sha256HexOfText(`${name} ${i}`);
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
  const { rows } = await db.query<{ rows: string }>('select count(*) as rows from ledger');
  const verifiedRowsPerSecond = await verify(db, key);
  const spreads = Object.fromEntries(Object.entries(times).map(([what, samples]) => [what, spread(samples)]));
  return { rows: Number(rows[0]?.rows), ...(spreads as Record<keyof typeof times, Spread>), verifiedRowsPerSecond };
}

async function verify(db: Database, { keyId, publicKey }: SigningKey): Promise<number> {
  const committer = {
    kind: 'committer' as const,
    subject: { type: 'service' as const, id: 'committer' },
    ...{
      onBehalfOf: null,
      tenants: [],
      rights: [],
      demo: false,
      keyId,
      publicKey,
      addedAt: '',
      operatorKeyId: '',
      revokedAt: null,
    },
  };
  const began = performance.now();
  const report = await verifyLedger(db, { keys: (id) => (id === keyId ? committer : undefined), development: false });
  if (!report.ok) throw new Error(`The ledger does not verify: ${report.problems.slice(0, 3).join('\n')}`);
  return Math.round(report.rows / ((performance.now() - began) / 1000));
}

function summary({ rows, verifiedRowsPerSecond, ...figures }: Figures): string {
  const parts = Object.entries(figures).map(([what, { p50, p95 }]) => `${what} p50 ${p50} p95 ${p95} ms`);
  return `${rows} rows: ${parts.join(', ')}, verified ${verifiedRowsPerSecond} rows/s`;
}

const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false }, rows: { type: 'string', default: '1000000' } },
});
const wanted = Number(values.rows);
if (!Number.isInteger(wanted) || wanted < 1) {
  process.stderr.write('bench:ledger: expected a whole number from 1 for --rows\n');
  process.exitCode = 2;
} else
  main(wanted, values.json).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  });
