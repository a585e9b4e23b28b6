import { canonicalJson, type JsonObject } from '../policy/contracts/canonical-json';
import type { SigningKey } from '../signing/keys';
import { openDatabase, type Database } from '../storage/database/database';
import { createCheckpointer, MAX_CHECKPOINT_ROWS } from '../storage/ledger/checkpoint';

const REVIEWS_OF_A_STATEMENT = 250;
const SESSIONS = 2;
const SAY_EACH = 100_000;

const VIOLATION = 'a'.repeat(64);
const SUBMISSION = {
  tenant: 'default',
  target: 'shop',
  sourceTool: 'SQLDryRun',
  metadata: { explanation: 'x'.repeat(200) },
};
const AT = new Date().toISOString();

/** The rows of one review, from its submission to its head. */
const ROWS: readonly (readonly [kind: string, body: JsonObject])[] = [
  ['submitted', { submission: SUBMISSION, inputSha: '0'.repeat(64), requester: 'dana' }],
  ['planned', { planHash: 'f'.repeat(64), revision: 1, mode: 'enforced' }],
  [
    'findings',
    { phase: 'preflight', findings: [{ validator_id: 'guardian.rows', status: 'WARN', reason: 'x'.repeat(300) }] },
  ],
  ['staged', { measured: { rows: 1 }, text: 'x'.repeat(400) }],
  ['attested', { record: 'x'.repeat(600) }],
  [
    'disclosed',
    {
      violations: [
        {
          violationId: VIOLATION,
          validatorId: 'guardian.rows',
          need: 'human',
          group: 'dba',
          quorum: 1,
          fourEyes: true,
        },
      ],
    },
  ],
  ['answer_accepted', { violationId: VIOLATION, decision: 'confirm', person: 'alice', envelope: 'x'.repeat(700) }],
  ['intent', { text: 'x'.repeat(300) }],
  ['closed', { state: 'COMMITTED', reason: null }],
  ['head', { text: 'x'.repeat(300) }],
];

export interface Filled {
  readonly rowsPerSecond: number;
  readonly checkpointRowsPerSecond: number;
  readonly databaseMiB: number;
}

export const ROWS_OF_A_REVIEW = ROWS.length;

/**
 * Appends ended reviews of ten rows until there are this many rows, then signs checkpoints over them. All rows go through `ledger_append`,
 * with hundreds of calls in one statement and transaction: only round trips and flushes to disk are saved.
 */
export async function fillLedger(
  db: Database,
  url: string,
  key: SigningKey,
  rows: number,
  say: (line: string) => void,
): Promise<Filled> {
  const reviews = Math.ceil(rows / ROWS_OF_A_REVIEW);
  const sessions = Array.from({ length: SESSIONS }, () =>
    openDatabase({ url, applicationName: 'bench-fill', max: 1, statementTimeoutMs: 600_000 }),
  );
  let next = 0;
  const began = performance.now();
  await Promise.all(
    sessions.map(async (session) => {
      for (let from = next; from < reviews; from = next) {
        next += REVIEWS_OF_A_STATEMENT;
        await append(session, from, Math.min(next, reviews));
        const done = next * ROWS_OF_A_REVIEW;
        if (done % SAY_EACH === 0) say(`${done} rows are appended`);
      }
      await session.close();
    }),
  );
  const rowsPerSecond = Math.round((reviews * ROWS_OF_A_REVIEW) / ((performance.now() - began) / 1000));
  await db.query('analyze');
  const checkpointRowsPerSecond = await checkpointAll(db, key, say);
  const { rows: sizes } = await db.query<{ mib: number }>(
    'select (pg_database_size(current_database()) / 1048576)::int as mib',
  );
  return { rowsPerSecond, checkpointRowsPerSecond, databaseMiB: sizes[0]?.mib ?? 0 };
}

async function append(session: Database, from: number, to: number): Promise<void> {
  const kinds = ROWS.map(([kind]) => kind);
  const projection = {
    state: 'COMMITTED',
    pending: 0,
    openedAt: AT,
    updatedAt: AT,
    closedAt: AT,
    summary: 'UPDATE items',
  };
  await session.query(
    `select count(*) from generate_series($1::int, $2::int - 1) r cross join lateral ledger_append(
       encode(sha256(('review ' || r)::bytea), 'hex'), $3::text[], $4::text[], $5::text[], $6::text[],
       array_fill(null::text, array[${ROWS_OF_A_REVIEW}]), array_fill(null::text, array[${ROWS_OF_A_REVIEW}]), $7::json)`,
    [
      from,
      to,
      kinds,
      kinds.map(() => AT),
      ROWS.map(([, body]) => canonicalJson(body)),
      kinds,
      canonicalJson(projection),
    ],
  );
}

/** As if each checkpoint had been made long ago: the rows of the last minute are read again by each. */
async function checkpointAll(db: Database, key: SigningKey, say: (line: string) => void): Promise<number> {
  const began = performance.now();
  const checkpointer = createCheckpointer({ db, key, now: () => new Date() });
  let size = 0;
  let rows = 0;
  for (let done = await checkpointer.checkpoint(); done !== null;) {
    rows += done.rows;
    size = done.checkpoint.size;
    if (rows % SAY_EACH < MAX_CHECKPOINT_ROWS) say(`${size} rows are in a checkpoint`);
    await db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(`update ledger_checkpoints set created_at = now() - interval '1 hour' where size = $1`, [size]);
    });
    done = await checkpointer.checkpoint();
  }
  return Math.round(rows / ((performance.now() - began) / 1000));
}
