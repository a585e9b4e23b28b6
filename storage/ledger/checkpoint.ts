/**
 * Signed heads of a Merkle tree over all ledger rows, so that a changed or removed row is detected.
 *
 * M1 Leaves are ordered by when a row got its leaf, not by `seq`: a transaction with a lower seq may commit later.
 * M2 All rows up to `settled_seq` have a leaf. A seq that was allocated before a checkpoint is settled when a minute has passed and each
 *    transaction that was open then has ended: a role can keep one open for as long as it likes.
 * M3 Each full subtree from STORED_LEVEL on has a row, so that a proof reads a few rows and not the whole tree. Nothing trusts these
 *    rows: a proof verifies against a signed head, and `ledger verify` compares all of them.
 */
import { openEnvelope } from '../../policy/evidence/dsse';
import { appendLeaves, EMPTY_FRONTIER, frontierRoot, type Frontier, type TreeNode } from '../../policy/evidence/merkle';
import type { Checkpoint } from '../../policy/evidence/predicates';
import { signPredicate } from '../../signing/envelope';
import type { SigningKey } from '../../signing/keys';
import type { Database, Queryable } from '../database/database';
import { tryAdvisoryLock } from '../database/try-advisory-lock';

/** Maximum number of rows in one checkpoint, which bounds the time that hashing blocks the process. */
export const MAX_CHECKPOINT_ROWS = 5_000;

/** Subtrees of 256 leaves and larger are stored; smaller ones are computed from the leaves. */
export const STORED_LEVEL = 8;

interface CheckpointDeps {
  readonly db: Database;
  /** Signing key of the committer. */
  readonly key: SigningKey;
  readonly now: () => Date;
  /** Default MAX_CHECKPOINT_ROWS. */
  readonly maxRows?: number;
}

interface Last {
  size: string;
  root_hash: string;
  envelope: unknown;
  frontier: Frontier;
  settled_seq: string;
}

/**
 * Adds the rows without a leaf to the tree and signs the new head. Null if all rows have one, or if another process is doing it.
 * Call it again immediately while `rows` is MAX_CHECKPOINT_ROWS. Throws if the last checkpoint does not match its own tree.
 */
export function createCheckpointer({ db, key, now, maxRows = MAX_CHECKPOINT_ROWS }: CheckpointDeps): {
  checkpoint(): Promise<{ readonly checkpoint: Checkpoint; readonly rows: number } | null>;
} {
  return {
    checkpoint: () =>
      db.transaction(async (tx) => {
        if (!(await tryAdvisoryLock(tx, 'countersign/checkpoint', 0))) return null;
        const last = await lastCheckpoint(tx);
        const { rows } = await tx.query<{ seq: string; change_id: string; n: number; hash: string }>(
          `select l.seq, l.change_id, l.n, l.hash from ledger l
           where l.seq > $1 and not exists (select from ledger_leaves m where m.change_id = l.change_id and m.n = l.n) order by l.seq limit $2`,
          [last.settledSeq, maxRows],
        );
        if (rows.length === 0) return null;
        const nodes: (TreeNode & { readonly hash: string })[] = [];
        const frontier = appendLeaves(
          last.frontier,
          rows.map(({ hash }) => hash),
          (node, hash) => void (node.level >= STORED_LEVEL && nodes.push({ ...node, hash })),
        );
        const checkpoint: Checkpoint = {
          size: frontier.size,
          rootHash: frontierRoot(frontier),
          keyId: key.keyId,
          at: now().toISOString(),
        };
        await tx.query(
          'insert into ledger_leaves (leaf, change_id, n, hash) select * from unnest($1::bigint[], $2::text[], $3::int[], $4::text[])',
          [
            rows.map((_, i) => last.frontier.size + i),
            rows.map((row) => row.change_id),
            rows.map((row) => row.n),
            rows.map((row) => row.hash),
          ],
        );
        await tx.query(
          'insert into ledger_nodes (level, i, hash) select * from unnest($1::int[], $2::bigint[], $3::text[])',
          [nodes.map(({ level }) => level), nodes.map(({ index }) => index), nodes.map(({ hash }) => hash)],
        );
        await tx.query(
          `insert into ledger_checkpoints (size, root_hash, envelope, frontier, max_seq, settled_seq) values ($1, $2, $3, $4, $5, $6)`,
          [
            checkpoint.size,
            checkpoint.rootHash,
            JSON.stringify(signPredicate('checkpoint', checkpoint, key)),
            JSON.stringify(frontier),
            rows.at(-1)?.seq,
            await settledSeq(tx, last.settledSeq),
          ],
        );
        return { checkpoint, rows: rows.length };
      }),
  };
}

async function lastCheckpoint(tx: Queryable): Promise<{ frontier: Frontier; settledSeq: string }> {
  const { rows } = await tx.query<Last>(
    'select size, root_hash, envelope, frontier, settled_seq from ledger_checkpoints order by size desc limit 1',
  );
  const last = rows[0];
  if (last === undefined) return { frontier: EMPTY_FRONTIER, settledSeq: '0' };
  const opened = openEnvelope('checkpoint', last.envelope);
  const matches =
    opened.ok &&
    opened.statement.predicate.size === last.frontier.size &&
    opened.statement.predicate.rootHash === last.root_hash &&
    frontierRoot(last.frontier) === last.root_hash &&
    Number(last.size) === last.frontier.size;
  if (!matches)
    throw new Error(
      `The last checkpoint of the ledger (size ${last.size}) does not match its own tree; run: countersign ledger verify`,
    );
  return { frontier: last.frontier, settledSeq: last.settled_seq };
}

/**
 * A full batch leaves rows without a leaf, so only rows seen by an earlier, finished pass are settled. Looks at the latest checkpoint
 * that is old enough and at the rows since `before`, so the time does not grow with the ledger. `xmin` is the transaction of a checkpoint.
 */
async function settledSeq(tx: Queryable, before: string): Promise<string> {
  const { rows } = await tx.query<{ max_seq: string }>(
    `select max_seq from ledger_checkpoints
     where created_at < now() - interval '60 seconds' and age(xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid)
     order by size desc limit 1`,
  );
  const candidate = rows[0]?.max_seq ?? before;
  if (BigInt(candidate) <= BigInt(before)) return before;
  const { rows: open } = await tx.query(
    `select from ledger l where l.seq > $1 and l.seq <= $2
       and not exists (select from ledger_leaves m where m.change_id = l.change_id and m.n = l.n) limit 1`,
    [before, candidate],
  );
  return open.length === 0 ? candidate : before;
}
