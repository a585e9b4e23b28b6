import type { Ledger } from '../../policy/evidence/ledger-port';
import type { Database } from '../database/database';
import { createLedger } from './ledger';

/**
 * Runs `work` in a transaction in which no other one can append to the change: `ledger_append` takes the same lock. So the rows that are
 * read stay the last ones. `actor` is the database role that the ledger writes into rows of this transaction. Rolls back if `work` throws.
 * Throws STORE_UNAVAILABLE (retryable) if the lock is not acquired within the statement timeout.
 */
export type WithChangeLock = <T>(changeId: string, work: (ledger: Ledger, actor: string) => Promise<T>) => Promise<T>;

export function ledgerWithChangeLock(db: Database): WithChangeLock {
  return (changeId, work) =>
    db.transaction(async (tx) => {
      const { rows } = await tx.query<{ actor: string }>(
        'select session_user::text as actor from pg_advisory_xact_lock(hashtextextended($1, 0))',
        [changeId],
        'ledger_change_lock',
      );
      if (rows[0] === undefined) throw new Error('The database returned no role');
      return work(createLedger(tx), rows[0].actor);
    });
}
