import { z } from 'zod';
import type { Occurrence, SqlFacts, SqlName, TransactionFact } from '../facts/sql-facts';

export const AssumeInTransaction = z
  .boolean()
  .default(true)
  .describe('Whether all statements run in one transaction, as staged SQL does. If false, each runs in its own.');

export const TransactionConfig = z.strictObject({ assumeInTransaction: AssumeInTransaction });

interface TransactionState {
  /** True if the position is inside a transaction. */
  readonly inside: (at: Occurrence) => boolean;
  /**
   * True if the same transaction created the table earlier: other sessions cannot see it, so its locks block nothing. Both must be
   * written in the same way: after CREATE TEMP TABLE orders, public.orders is still another table.
   */
  readonly isNew: (table: SqlName | null, at: Occurrence) => boolean;
  /** Id of the transaction at the position, or null outside of one. */
  readonly transaction: (at: Occurrence) => number | null;
}

/** Follows BEGIN, COMMIT and CREATE TABLE through the top-level statements. Computed on first use. */
export function transactionState(facts: SqlFacts, assumeInTransaction: boolean): TransactionState {
  let transactions: readonly (number | null)[] | null = null;
  const transaction = (at: Occurrence): number | null =>
    (transactions ??= transactionsOf(facts, assumeInTransaction))[at.statement] ?? null;
  return {
    inside: (at) => transaction(at) !== null,
    transaction,
    isNew: (table, at) => {
      const here = transaction(at);
      if (table === null || here === null) return false;
      return facts.tables.some(
        (t) =>
          !t.ifNotExists &&
          t.statement < at.statement &&
          transaction(t) === here &&
          t.table.name === table.name &&
          t.table.schema === table.schema,
      );
    },
  };
}

/** Transaction id of each top-level statement. */
function transactionsOf(
  { statements, transactionControl }: SqlFacts,
  assumeInTransaction: boolean,
): readonly (number | null)[] {
  let current: number | null = assumeInTransaction ? 0 : null;
  let next = 1;
  const controls = new Map<number, TransactionFact>();
  for (const t of transactionControl)
    if (t.via.length === 0 && !controls.has(t.statement)) controls.set(t.statement, t);
  const transactions: (number | null)[] = [];
  for (const s of statements) {
    const control = controls.get(s.index);
    transactions[s.index] = current;
    if (control === undefined) continue;
    if (control.kind === 'begin' || control.kind === 'start') current ??= next++;
    else if (control.kind === 'commit' || control.kind === 'rollback' || control.kind === 'prepare')
      current = control.chain ? next++ : null;
  }
  return transactions;
}
