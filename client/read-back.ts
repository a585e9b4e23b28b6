import type { LedgerRow } from '../policy/contracts/ledger';
import { verifyChain, type StoredRow } from '../policy/evidence/chain';
import { CountersignError } from './errors';
import type { Watch } from './ports';

/** How long to look for the row of an answer or a withdrawal. */
const READ_BACK_MS = 5_000;

export interface WatchedRows {
  readonly rows: () => Promise<readonly StoredRow[]>;
  readonly watch: () => Promise<Watch>;
}

/**
 * Reads the rows of a change, again after each notification, until `found` accepts them or the time is over. Returns the rows that
 * were read last. Throws `not_verified` unless the rows are the hash chain of this change.
 */
export async function readBack(
  changeId: string,
  ledger: WatchedRows,
  found: (rows: readonly LedgerRow[]) => boolean,
): Promise<readonly LedgerRow[]> {
  const until = performance.now() + READ_BACK_MS;
  const watch = await ledger.watch();
  try {
    for (;;) {
      const rows = chainOf(changeId, await ledger.rows());
      const left = until - performance.now();
      if (found(rows) || left <= 0) return rows;
      await watch.next(left);
    }
  } finally {
    watch.close();
  }
}

/** Throws `not_verified` unless these are the hash chain of this change. */
export function chainOf(changeId: string, stored: readonly StoredRow[]): readonly LedgerRow[] {
  const chain = verifyChain(stored);
  const rows = stored.map(({ row }) => row);
  if (chain.ok && rows.every((row) => row.changeId === changeId)) return rows;
  throw new CountersignError(
    'not_verified',
    `The ledger rows of ${changeId} are not its hash chain${chain.ok ? '' : `: row ${chain.n}: ${chain.problem}`}`,
  );
}
