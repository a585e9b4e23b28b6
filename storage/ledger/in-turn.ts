import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import type { InTurn } from '../../policy/evidence/ledger-port';
import type { Database } from '../database/database';
import { createLedger } from './ledger';

/** Apart from the locks of single changes, which `ledger_append` takes under seed 0. */
const SEED = 1;
/** As long as a statement may take: past it the activity is tried again. */
const MAX_WAIT_MS = 10_000;

/**
 * The lock is PostgreSQL's and ends with the transaction, so a process that dies holds up nobody. Within this process the
 * turns of one name wait before they take a connection: a burst of them would else hold all, and answers find none.
 */
export function ledgerInTurn(db: Database): InTurn {
  const last = new Map<string, Promise<void>>();
  return async (name, work) => {
    const since = performance.now();
    const before = last.get(name);
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    last.set(name, ended);
    try {
      await before;
      if (performance.now() - since > MAX_WAIT_MS) throw tooLate(name);
      return await db.transaction(async (tx) => {
        await tx.query('select pg_advisory_xact_lock(hashtextextended($1, $2))', [name, SEED], 'ledger_in_turn');
        return work(createLedger(tx));
      });
    } finally {
      end();
      if (last.get(name) === ended) last.delete(name);
    }
  };
}

function tooLate(name: string): CountersignFailure {
  return CountersignFailure.retryable(`The turn of "${name}" did not come in ${MAX_WAIT_MS} ms`, FailureType.Store);
}
