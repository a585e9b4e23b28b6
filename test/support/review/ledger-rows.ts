import { GENESIS, ledgerHash, type LedgerKind, type LedgerRow } from '../../../policy/contracts/ledger';
import type { StoredRow } from '../../../policy/evidence/chain';

/** The rows after `change`, which may drop some of them, with a valid hash chain: what an attacker who can write rows can produce. */
export function rechained(rows: readonly StoredRow[], change: (row: LedgerRow) => LedgerRow | null): StoredRow[] {
  let prev = GENESIS;
  return rows
    .flatMap(({ row }) => change(structuredClone(row)) ?? [])
    .map((row, n) => {
      const linked = { ...row, n, prev };
      prev = ledgerHash(linked);
      return { row: linked, hash: prev };
    });
}

/** Changes the body of each row of one kind; for `rechained`. */
export function withBody(kind: LedgerKind, change: (body: LedgerRow['body']) => object): (row: LedgerRow) => LedgerRow {
  return (row) => (row.kind === kind ? { ...row, body: change(row.body) as LedgerRow['body'] } : row);
}
