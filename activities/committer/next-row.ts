import { GENESIS, ledgerHash, type LedgerRow } from '../../policy/contracts/ledger';
import type { StoredRow } from '../../policy/evidence/chain';
import type { LedgerEntry } from '../../policy/evidence/ledger-port';

/** The row that the ledger will write for an entry after `last`, with the hash that it will have. Only while the change is locked. */
export function nextRow(
  changeId: string,
  last: StoredRow | undefined,
  { kind, at, body }: LedgerEntry,
  actor: string,
): StoredRow {
  const [n, prev] = [(last?.row.n ?? -1) + 1, last?.hash ?? GENESIS];
  const row: LedgerRow = { changeId, n, prev, kind, at, actor, body: body as LedgerRow['body'] };
  return { row, hash: ledgerHash(row) };
}
