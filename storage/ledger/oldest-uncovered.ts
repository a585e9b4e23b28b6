import type { Queryable } from '../database/database';

/** The time of the first ledger row that no checkpoint covers, as the row gives it; null if every row is covered. */
export async function oldestUncovered(db: Queryable): Promise<string | null> {
  const { rows } = await db.query<{ at: string }>(
    `select l.at from ledger l
     where l.seq > coalesce((select settled_seq from ledger_checkpoints order by size desc limit 1), 0)
       and not exists (select from ledger_leaves m where m.change_id = l.change_id and m.n = l.n)
     order by l.seq limit 1`,
  );
  return rows[0]?.at ?? null;
}
