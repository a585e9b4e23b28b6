import type { InTurn } from '../../policy/evidence/ledger-port';
import type { Database } from '../database/database';
import { createLedger } from './ledger';

/** Apart from the locks of single changes, which `ledger_append` takes under seed 0. */
const SEED = 1;

/** The lock is PostgreSQL's and ends with the transaction, so a process that dies holds up nobody. */
export function ledgerInTurn(db: Database): InTurn {
  return (name, work) =>
    db.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock(hashtextextended($1, $2))', [name, SEED], 'ledger_in_turn');
      return work(createLedger(tx));
    });
}
