/**
 * `npm run bench:ledger -- --rows 1000000`: what grows with the ledger. Measures append, list, show, checkpoint and proof on an empty ledger
 * and on one with this many rows, on an embedded PostgreSQL. Progress goes to standard error; with --json the last line of standard
 * output is one object.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startRuntime } from '../dev/embedded';
import { sha256HexOfText } from '../policy/contracts/hash';
import { newKeyPair } from '../signing/keys';
import { openDatabase, type Database } from '../storage/database/database';
import { migrate } from '../storage/database/migrate';
import { createCheckpointer, MAX_CHECKPOINT_ROWS } from '../storage/ledger/checkpoint';
import { inclusionReader } from '../storage/ledger/inclusion';
import { createLedger } from '../storage/ledger/ledger';
import { machine, spread, type Spread } from './measure';

const SAMPLES = 200;
const ROWS_OF_A_REVIEW = 10;

/** What each part takes with this many rows, in milliseconds. */
interface Figures {
  readonly rows: number;
  readonly append: Spread;
  readonly list: Spread;
  readonly show: Spread;
  readonly checkpoint: Spread;
  readonly proof: Spread;
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
    const empty = await measure(db, 'empty');
    say(summary(empty));
    await fill(db, rows, say);
    const full = await measure(db, 'full');
    say(summary(full));
    if (json) process.stdout.write(`${JSON.stringify({ machine: machine(), empty, full })}\n`);
    await db.close();
  } finally {
    await runtime.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/**
 * Adds reviews of ten rows with their projection, and checkpoints over them. The rows have random hashes: nothing here verifies chains, and
 * writing them in SQL takes minutes, not hours.
 */
async function fill(db: Database, rows: number, say: (line: string) => void): Promise<void> {
  const reviews = Math.ceil(rows / ROWS_OF_A_REVIEW);
  await db.query(
    `insert into ledger (change_id, n, prev, hash, kind, at, actor, body, fact_key)
     select encode(sha256(('r' || r)::bytea), 'hex'), n, repeat('0', 64), encode(sha256((r || '/' || n)::bytea), 'hex'),
            'findings', '2026-01-01T00:00:00.000Z', 'bench', '{"text":"' || repeat('x', 400) || '"}', 'fact ' || n
     from generate_series(1, $1) r, generate_series(0, $2) n`,
    [reviews, ROWS_OF_A_REVIEW - 1],
  );
  await db.query(
    `insert into reviews select encode(sha256(('r' || r)::bytea), 'hex'), 'default', 'shop', 'SQLDryRun', repeat('0', 64), 'COMMITTED', null,
            'enforced', null, 0, null, timestamptz '2026-01-01' + r * interval '1 second', now(), null, now(), 'a change'
     from generate_series(1, $1) r`,
    [reviews],
  );
  await db.query('analyze');
  say(`${reviews * ROWS_OF_A_REVIEW} rows of ${reviews} reviews; now their checkpoints`);
  const checkpointer = createCheckpointer({ db, key: newKeyPair(), now: () => new Date() });
  for (let done = await checkpointer.checkpoint(); done?.rows === MAX_CHECKPOINT_ROWS;) {
    done = await checkpointer.checkpoint();
    // As if they had been made long ago: rows of the last minute are read again by each checkpoint.
    await db.query(
      `set session_replication_role = replica; update ledger_checkpoints set created_at = now() - interval '1 hour'; reset session_replication_role`,
    );
    if (done !== null && done.checkpoint.size % 100_000 === 0) say(`${done.checkpoint.size} rows are in a checkpoint`);
  }
}

async function measure(db: Database, name: string): Promise<Figures> {
  const ledger = createLedger(db);
  const reader = inclusionReader(db);
  const checkpointer = createCheckpointer({ db, key: newKeyPair(), now: () => new Date() });
  const times: Record<Exclude<keyof Figures, 'rows'>, number[]> = {
    append: [],
    list: [],
    show: [],
    checkpoint: [],
    proof: [],
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
  }
  const { rows } = await db.query<{ rows: string }>('select count(*) as rows from ledger');
  const spreads = Object.fromEntries(Object.entries(times).map(([what, samples]) => [what, spread(samples)]));
  return { rows: Number(rows[0]?.rows), ...(spreads as Record<keyof typeof times, Spread>) };
}

function summary({ rows, ...figures }: Figures): string {
  const parts = Object.entries(figures).map(([what, { p50, p95 }]) => `${what} p50 ${p50} p95 ${p95} ms`);
  return `${rows} rows: ${parts.join(', ')}`;
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
