import { LedgerRow } from '../../policy/contracts/ledger';
import { CHAIN_START, linkProblem } from '../../policy/evidence/chain';
import { appendLeaves, EMPTY_FRONTIER, frontierRoot, type Frontier, type TreeNode } from '../../policy/evidence/merkle';
import { jsonOf } from '../../policy/text/json-of';
import type { KeyLookup } from '../../policy/evidence/key-registry';
import type { LedgerReport } from '../../policy/evidence/reports';
import { verifyWithRegistry } from '../../signing/registry-verify';
import type { Queryable } from '../database/database';
import { STORED_LEVEL } from './checkpoint';

const BATCH = 2_000;
/** Rows in which one statement looks for rows without a leaf: a statement over all rows would take longer with each of them. */
const WINDOW = 20_000;
const CHECKPOINT_PAGE = 500;
const MAX_SHOWN = 100;

interface VerifyLedgerOptions {
  readonly keys: KeyLookup;
  readonly development: boolean;
  /** Called after each batch with the rows checked so far. */
  readonly progress?: (rows: number) => void;
}

interface LeafRow {
  leaf: string;
  leaf_change: string;
  leaf_n: number;
  leaf_hash: string;
}
interface TableRow {
  seq: string;
  change_id: string | null;
  n: number;
  prev: string;
  hash: string;
  kind: string;
  at: string;
  actor: string;
  body: string;
}

/**
 * Verifies the full ledger: the hash of each row, the chain of each review, the signature and root of each checkpoint, that each
 * leaf has its row, and the stored subtrees. Reads in batches and keeps one chain head per review in memory. `development` accepts
 * checkpoints signed by demo keys.
 */
export async function verifyLedger(
  db: Queryable,
  { keys, development, progress }: VerifyLedgerOptions,
): Promise<LedgerReport> {
  const problems: string[] = [];
  let problemCount = 0;
  const report = (problem: string): void => {
    if (++problemCount <= MAX_SHOWN) problems.push(problem);
  };
  const heads = new Map<string, { n: number; hash: string }>();
  let rows = 0;

  function checkRow(row: TableRow): void {
    rows++;
    const { change_id: changeId, n, prev, hash, kind, at, actor } = row;
    const place = `${changeId} row ${n}`;
    const parsed = LedgerRow.safeParse({ changeId, n, prev, kind, at, actor, body: jsonOf(row.body) });
    const problem = parsed.success
      ? linkProblem(heads.get(changeId ?? '') ?? CHAIN_START, { row: parsed.data, hash })
      : 'the row cannot be read: it was changed';
    if (problem !== null) report(`${place}: ${problem}`);
    heads.set(changeId ?? '', { n, hash });
  }

  const checkpoints = new CheckpointReader(db);
  let checkpoint = await checkpoints.next();
  let frontier = EMPTY_FRONTIER;
  for (let leaf = 0; ;) {
    const end = checkpoint === null ? leaf + BATCH : Math.min(leaf + BATCH, Number(checkpoint.size));
    const { rows: leaves } = await db.query<LeafRow & TableRow>(
      `select m.leaf, m.change_id as leaf_change, m.n as leaf_n, m.hash as leaf_hash, l.*
       from ledger_leaves m left join ledger l on l.change_id = m.change_id and l.n = m.n where m.leaf >= $1 and m.leaf < $2 order by m.leaf`,
      [leaf, end],
    );
    for (const row of leaves) {
      if (Number(row.leaf) !== leaf) report(`leaf ${leaf}: the leaf is missing`);
      leaf = Number(row.leaf) + 1;
      if (row.change_id === null) report(`${row.leaf_change} row ${row.leaf_n}: the row has a leaf but is missing`);
      else if (row.hash !== row.leaf_hash)
        report(`${row.change_id} row ${row.leaf_n}: the hash of the row is not that of its leaf`);
      if (row.change_id !== null) checkRow(row);
    }
    const nodes: StoredNode[] = [];
    frontier = appendLeaves(
      frontier,
      leaves.map((row) => row.leaf_hash),
      (node, hash) => void (node.level >= STORED_LEVEL && nodes.push({ ...node, hash })),
    );
    (await nodeProblems(db, nodes)).forEach(report);
    for (; checkpoint !== null && Number(checkpoint.size) <= frontier.size; checkpoint = await checkpoints.next())
      checkpointProblems(checkpoint, frontier, { keys, development }).forEach(report);
    progress?.(rows);
    if (leaves.length === 0) break;
  }
  for (; checkpoint !== null; checkpoint = await checkpoints.next())
    report(`checkpoint ${checkpoint.size}: the checkpoint covers more rows than there are leaves`);
  if (frontier.size > 0 && !(await isCovered(db, frontier.size)))
    report(`leaf ${frontier.size - 1}: no checkpoint covers the leaf; the newest checkpoints were removed`);

  let uncovered = 0;
  await readUncovered(db, frontier.size, (rest) => {
    rest.forEach(checkRow);
    uncovered += rest.length;
    progress?.(rows);
  });
  return {
    ok: problemCount === 0,
    rows,
    changes: heads.size,
    checkpoints: checkpoints.count,
    uncovered,
    problems,
    problemCount,
  };
}

/** Whether a checkpoint covers the first `leaves` leaves. The last of them was written together with such a checkpoint. */
async function isCovered(db: Queryable, leaves: number): Promise<boolean> {
  const { rows } = await db.query('select 1 from ledger_checkpoints where size >= $1 limit 1', [leaves]);
  return rows.length > 0;
}

/** Problems of a checkpoint, compared with the tree of the same size. */
function checkpointProblems(
  { size, root_hash: root, envelope }: CheckpointRow,
  frontier: Frontier,
  trust: Pick<VerifyLedgerOptions, 'keys' | 'development'>,
): string[] {
  const problems: string[] = [];
  const verified = verifyWithRegistry(envelope, 'checkpoint', { ...trust, keyKind: 'committer', use: null });
  if (!verified.ok) problems.push(`checkpoint ${size}: ${verified.message}`);
  else if (verified.predicate.size !== Number(size) || verified.predicate.rootHash !== root)
    problems.push(`checkpoint ${size}: the signed statement differs from the row`);
  if (Number(size) !== frontier.size || frontierRoot(frontier) !== root)
    problems.push(`checkpoint ${size}: its root is not that of the tree; rows were changed, added or removed`);
  return problems;
}

interface StoredNode extends TreeNode {
  readonly hash: string;
}

async function nodeProblems(db: Queryable, nodes: readonly StoredNode[]): Promise<readonly string[]> {
  if (nodes.length === 0) return [];
  const { rows } = await db.query<{ level: number; i: string }>(
    `select e.level, e.i from unnest($1::int[], $2::bigint[], $3::text[]) as e(level, i, hash)
     left join ledger_nodes n using (level, i) where n.hash is distinct from e.hash`,
    [nodes.map(({ level }) => level), nodes.map(({ index }) => index), nodes.map(({ hash }) => hash)],
  );
  return rows.map(({ level, i }) => `subtree ${level}/${i}: the stored hash is missing or differs from its leaves`);
}

/** Reads the rows without one of the first `leaves` leaves in batches, some of which are empty. A row can get a later leaf meanwhile. */
async function readUncovered(db: Queryable, leaves: number, each: (rows: readonly TableRow[]) => void): Promise<void> {
  for (let after: string | null = '0'; after !== null;) {
    const to: string | null = await windowEnd(db, after);
    const { rows }: { rows: TableRow[] } = await db.query<TableRow>(
      `select l.* from ledger l where l.seq > $1 and ($2::bigint is null or l.seq <= $2)
         and not exists (select from ledger_leaves m where m.change_id = l.change_id and m.n = l.n and m.leaf < $4) order by l.seq limit $3`,
      [after, to, BATCH, leaves],
    );
    each(rows);
    after = rows.length < BATCH ? to : (rows.at(-1)?.seq ?? null);
  }
}

/** Null if fewer rows than a window follow. */
async function windowEnd(db: Queryable, after: string): Promise<string | null> {
  const { rows } = await db.query<{ seq: string }>(
    'select seq from ledger where seq > $1 order by seq offset $2 limit 1',
    [after, WINDOW],
  );
  return rows[0]?.seq ?? null;
}

interface CheckpointRow {
  readonly size: string;
  readonly root_hash: string;
  readonly envelope: unknown;
}

/** Reads checkpoints in the order of their sizes, a page at a time. */
class CheckpointReader {
  #page: CheckpointRow[] = [];
  #last = '-1';
  count = 0;

  constructor(private readonly db: Queryable) {}

  /** Null after the last one. */
  async next(): Promise<CheckpointRow | null> {
    if (this.#page.length === 0) {
      const { rows } = await this.db.query<CheckpointRow>(
        'select size, root_hash, envelope from ledger_checkpoints where size > $1 order by size limit $2',
        [this.#last, CHECKPOINT_PAGE],
      );
      this.#page = rows;
    }
    const next = this.#page.shift();
    if (next === undefined) return null;
    this.#last = next.size;
    this.count++;
    return next;
  }
}
