import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import type { WithAdvisoryLock } from '../../policy/evidence/ledger-port';
import type { Database } from '../database/database';
import { createLedger } from './ledger';

/** Differs from seed 0, which `ledger_append` uses for the locks of single changes. */
const SEED = 1;
/** Equal to the statement timeout. After it the activity is retried. */
const MAX_WAIT_MS = 10_000;

/**
 * Runs work one at a time per name, under a PostgreSQL advisory lock that ends with the transaction, so a crashed process cannot
 * block others. Within this process, calls with the same name queue before they take a connection. Otherwise a burst would use up
 * the pool and other requests would find no connection. Throws STORE_UNAVAILABLE (retryable) if the wait is too long.
 */
export function ledgerWithAdvisoryLock(db: Database): WithAdvisoryLock {
  const last = new Map<string, Promise<void>>();
  return async (name, work) => {
    const startedAt = performance.now();
    const previous = last.get(name);
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    last.set(name, ended);
    try {
      await previous;
      if (performance.now() - startedAt > MAX_WAIT_MS) throw lockTimeout(name);
      return await db.transaction(async (tx) => {
        await tx.query('select pg_advisory_xact_lock(hashtextextended($1, $2))', [name, SEED], 'ledger_advisory_lock');
        return work(createLedger(tx));
      });
    } finally {
      end();
      if (last.get(name) === ended) last.delete(name);
    }
  };
}

function lockTimeout(name: string): CountersignFailure {
  return CountersignFailure.retryable(
    `The advisory lock "${name}" was not acquired within ${MAX_WAIT_MS} ms`,
    FailureType.Store,
  );
}
