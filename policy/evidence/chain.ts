import { GENESIS, ledgerHash, type LedgerRow } from '../contracts/ledger';
import type { Sha256 } from '../contracts/hash';

/** A row as it is stored: with the hash that its successor names. */
export interface StoredRow {
  readonly row: LedgerRow;
  readonly hash: Sha256;
}

export type ChainResult =
  | {
      readonly ok: true;
      readonly length: number;
      /** Hash of the last row; 64 zeros for no rows. */ readonly head: Sha256;
    }
  | {
      readonly ok: false;
      /** Place of the first row that does not fit. */ readonly n: number;
      readonly problem: string;
    };

/**
 * Whether the rows are one whole chain: one change, counted from 0 without gap, each naming its predecessor's hash.
 * It cannot see rows missing at the end; signed checkpoints (merkle.ts) and `expectedHead` do.
 */
export function verifyChain(rows: readonly StoredRow[], expectedHead?: Sha256): ChainResult {
  let prev: Sha256 = GENESIS;
  const changeId = rows[0]?.row.changeId;
  for (const [n, { row, hash }] of rows.entries()) {
    const bad = (problem: string): ChainResult => ({ ok: false, n, problem });
    if (row.changeId !== changeId) return bad(`row of another change (${row.changeId})`);
    if (row.n !== n) return bad(`expected n ${n}, got ${row.n}: a row is missing, added or out of order`);
    if (row.prev !== prev) return bad('prev is not the hash of the row before');
    if (hash !== ledgerHash(row)) return bad('the stored hash is not the hash of the row: it was changed');
    prev = hash;
  }
  if (expectedHead !== undefined && prev !== expectedHead)
    return { ok: false, n: rows.length, problem: 'the chain does not end at the expected head' };
  return { ok: true, length: rows.length, head: prev };
}
