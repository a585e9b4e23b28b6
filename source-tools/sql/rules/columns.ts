import { z } from 'zod';
import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule } from './define-sql-rule';
import type { ColumnFact } from '../facts/sql-facts';
import { AssumeInTransaction, TransactionConfig, transactionState } from './transaction-state';

const SERIAL = new Set(['serial', 'serial2', 'serial4', 'serial8', 'smallserial', 'bigserial']);
/** The server computes a value for each existing row, also without DEFAULT. */
const isFilled = (c: ColumnFact): boolean => c.generatedStored || c.identity || SERIAL.has(c.type);

export const addColumnNotNull = defineSqlRule({
  name: 'sql_add_column_not_null',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'Adding a NOT NULL column without a default fails if the table has rows, and later inserts that omit the column fail.',
  config: TransactionConfig,
  advice: ['Give the column a constant default, or add it as nullable, fill it, and SET NOT NULL later.'],
  examples: {
    bad: 'ALTER TABLE orders ADD COLUMN region text NOT NULL',
    good: "ALTER TABLE orders ADD COLUMN region text NOT NULL DEFAULT ''",
  },
  find: (facts, { assumeInTransaction }) => {
    const state = transactionState(facts, assumeInTransaction);
    return facts.columns
      .filter(
        (c) =>
          c.origin === 'add_column' &&
          c.notNull &&
          c.defaultKind === 'none' &&
          !isFilled(c) &&
          !state.isNew(c.table, c),
      )
      .map((c) => ({ at: c, what: `NOT NULL column ${shown(c.column)} without a default` }));
  },
});

export const volatileDefault = defineSqlRule({
  name: 'sql_volatile_default',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'The server rewrites the full table under an exclusive lock to compute the new column for each row.',
  config: z.strictObject({
    assumeInTransaction: AssumeInTransaction,
    pgVersion: z
      .int()
      .min(9)
      .max(99)
      .default(18)
      .describe('Major version of the server. Before 12, every default counts as one that rewrites the table.'),
  }),
  advice: ['Add the column without the default, set the default for new rows, and fill existing rows in batches.'],
  examples: {
    bad: 'ALTER TABLE orders ADD COLUMN ref uuid DEFAULT gen_random_uuid()',
    good: "ALTER TABLE orders ADD COLUMN seen timestamptz DEFAULT now() - interval '1 day'",
  },
  find: (facts, { assumeInTransaction, pgVersion }) => {
    const state = transactionState(facts, assumeInTransaction);
    const rewrites = (c: ColumnFact): boolean =>
      c.defaultKind === 'volatile' || isFilled(c) || (pgVersion < 12 && c.defaultKind !== 'none');
    return facts.columns
      .filter((c) => c.origin === 'add_column' && rewrites(c) && !state.isNew(c.table, c))
      .map((c) => ({ at: c, what: `column ${shown(c.column)} is computed for each row` }));
  },
});
