import { invalid } from '../../policy/contracts/failure';
import type { LedgerKind, LedgerRow } from '../../policy/contracts/ledger';

/** Kinds of the rows that `isEnding` reads. */
export const ENDING_ROWS = ['intent', 'decided', 'closed'] as const satisfies readonly LedgerKind[];

/**
 * Whether the change ends or has ended. An activity that is scheduled after that, manually or by a reset workflow, must have no
 * effect; the ledger also refuses its rows.
 */
export function isEnding(rows: readonly LedgerRow[]): boolean {
  return rows.some(({ kind }) => ENDING_ROWS.some((ending) => ending === kind));
}

/** Fails with VALIDATION_ERROR, not retried. */
export function assertNotEnding(changeId: string, rows: readonly LedgerRow[]): void {
  if (isEnding(rows))
    throw invalid('changeId', 'a change that is open', changeId, 'It ends or has ended, so nothing of it runs');
}
