import type { Queryable } from './database';

/**
 * The clock of the database. Deadlines are measured with it, because a row of one process is compared with rows of others, whose clocks
 * can differ.
 */
export function databaseClock(db: Queryable): () => Promise<Date> {
  return async () => {
    const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now', [], 'database_clock');
    const [row] = rows;
    if (row === undefined) throw new Error('The database returned no time');
    return row.now;
  };
}
