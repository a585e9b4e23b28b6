import { GENESIS, ledgerHash, type LedgerRow } from '../contracts/ledger';
import type { Sha256 } from '../contracts/hash';

/** A stored row with its hash, which the next row contains as `prev`. */
export interface StoredRow {
  readonly row: LedgerRow;
  readonly hash: Sha256;
}

type ChainResult =
  | {
      readonly ok: true;
      readonly length: number;
      /** Hash of the last row; 64 zeros for no rows. */
      readonly head: Sha256;
    }
  | {
      readonly ok: false;
      /** Index of the first invalid row. */
      readonly n: number;
      readonly problem: string;
    };

/** Before the first row of a change. */
export const CHAIN_START = { n: -1, hash: GENESIS } as const;

/** Why a row does not continue the chain of its change after the row `last`; null if it does. */
export function linkProblem(
  last: { readonly n: number; readonly hash: Sha256 },
  { row, hash }: StoredRow,
): string | null {
  if (row.n !== last.n + 1) return `expected n ${last.n + 1}, got ${row.n}: a row is missing, added or out of order`;
  if (row.prev !== last.hash) return 'prev is not the hash of the previous row';
  return hash === ledgerHash(row)
    ? null
    : 'the stored hash is not the hash of the row: the row or the hash was changed';
}

/**
 * Verifies that the rows are one complete chain: one change, numbered from 0 without gaps, each with the hash of its
 * predecessor. Cannot detect missing rows at the end; signed checkpoints (merkle.ts) and `expectedHead` can.
 */
export function verifyChain(rows: readonly StoredRow[], expectedHead?: Sha256): ChainResult {
  let prev: Sha256 = GENESIS;
  const changeId = rows[0]?.row.changeId;
  for (const [n, { row, hash }] of rows.entries()) {
    const bad = (problem: string): ChainResult => ({ ok: false, n, problem });
    if (row.changeId !== changeId) return bad(`the row belongs to another change (${row.changeId})`);
    const problem = linkProblem({ n: n - 1, hash: prev }, { row, hash });
    if (problem !== null) return bad(problem);
    prev = hash;
  }
  if (expectedHead !== undefined && prev !== expectedHead)
    return { ok: false, n: rows.length, problem: 'the chain does not end at the expected head' };
  return { ok: true, length: rows.length, head: prev };
}
