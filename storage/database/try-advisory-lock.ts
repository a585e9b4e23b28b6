import type { Queryable } from './database';

/** Takes the advisory lock of this name until the transaction ends, also if the process crashes. False if another transaction has it. */
export async function tryAdvisoryLock(tx: Queryable, name: string, seed: number): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, $2)) as locked',
    [name, seed],
  );
  return rows[0]?.locked === true;
}
