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
 * Runs work under PostgreSQL advisory locks that end with the transaction, so a crashed process cannot block others. Within this
 * process, calls for an exclusive lock queue before they take a connection. Otherwise a burst would use up the pool and other
 * requests would find no connection. Throws STORE_UNAVAILABLE (retryable) if the wait is too long.
 */
export function ledgerWithAdvisoryLock(db: Database): WithAdvisoryLock {
  const queues = new Map<string, Promise<void>>();
  return async (locks, work) => {
    // Every call acquires in this order, in this process and in PostgreSQL, so calls cannot wait for each other in a circle.
    const ordered = [...locks].sort((a, b) => (a.name < b.name ? -1 : 1));
    const names = ordered.map(({ name }) => name);
    const exclusive = ordered.filter(({ mode }) => mode === 'exclusive').map(({ name }) => name);
    const release = await enqueue(queues, exclusive);
    try {
      return await db.transaction(async (tx) => {
        await tx.query(
          ACQUIRE,
          [names, ordered.map(({ mode }) => mode === 'exclusive'), SEED],
          'ledger_advisory_locks',
        );
        return work(createLedger(tx));
      });
    } finally {
      release();
    }
  };
}

/** `case` evaluates only the branch that it returns (PostgreSQL, 4.2.14), and the rows of unnest come in the order of the arrays. */
const ACQUIRE = `
select case when l.exclusive then pg_advisory_xact_lock(hashtextextended(l.name, $3))
            else pg_advisory_xact_lock_shared(hashtextextended(l.name, $3)) end
from unnest($1::text[], $2::boolean[]) as l(name, exclusive)`;

/** Waits behind the earlier calls for any of these names, and returns what lets the next ones continue. */
async function enqueue(queues: Map<string, Promise<void>>, names: readonly string[]): Promise<() => void> {
  const startedAt = performance.now();
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const release = (): void => {
    end();
    for (const name of names) if (queues.get(name) === ended) queues.delete(name);
  };
  // All queues are joined in one step, so the order is the same in each.
  const earlier = names.flatMap((name) => queues.get(name) ?? []);
  for (const name of names) queues.set(name, ended);
  await Promise.all(earlier);
  if (performance.now() - startedAt <= MAX_WAIT_MS) return release;
  release();
  throw lockTimeout(names);
}

function lockTimeout(names: readonly string[]): CountersignFailure {
  return CountersignFailure.retryable(
    `The advisory locks ${names.join(', ')} were not acquired within ${MAX_WAIT_MS} ms`,
    FailureType.Store,
  );
}
