import { z } from 'zod';
import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule } from './define-sql-rule';
import type { ColumnFact } from '../facts/sql-facts';
import { AssumeInTransaction, transactionState } from './transaction-state';

const SERIAL = new Set(['serial', 'serial2', 'serial4', 'serial8', 'smallserial', 'bigserial']);
const filled = (c: ColumnFact): boolean =>
  c.defaultKind !== 'none' || c.generatedStored || c.identity || SERIAL.has(c.type);

export const addColumnNotNull = defineSqlRule({
  name: 'sql_add_column_not_null',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'A required column without a default fails on any table that has rows, and breaks every writer that does not know it.',
  config: z.strictObject({ assumeInTransaction: AssumeInTransaction }),
  advice: ['Give it a constant default, or add it nullable, fill it, and SET NOT NULL later.'],
  examples: {
    bad: 'ALTER TABLE orders ADD COLUMN region text NOT NULL',
    good: "ALTER TABLE orders ADD COLUMN region text NOT NULL DEFAULT ''",
  },
  find: (facts, { assumeInTransaction }) => {
    const state = transactionState(facts, assumeInTransaction);
    return facts.columns
      .filter((c) => c.origin === 'add_column' && c.notNull && !filled(c) && !state.isNew(c.table, c))
      .map((c) => ({ at: c, what: `required column ${shown(c.column)} without a default` }));
  },
});

/** Before version 12, a default of any kind was read as one that rewrites. */
export const volatileDefault = defineSqlRule({
  name: 'sql_volatile_default',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'The server rewrites the whole table under an exclusive lock to fill the new column row by row.',
  config: z.strictObject({ assumeInTransaction: AssumeInTransaction, pgVersion: z.int().min(9).max(99).default(18) }),
  advice: ['Add the column without it, set the default for new rows, and fill old rows in batches.'],
  examples: {
    bad: 'ALTER TABLE orders ADD COLUMN ref uuid DEFAULT gen_random_uuid()',
    good: "ALTER TABLE orders ADD COLUMN seen timestamptz DEFAULT now() - interval '1 day'",
  },
  find: (facts, { assumeInTransaction, pgVersion }) => {
    const state = transactionState(facts, assumeInTransaction);
    const rewrites = (c: ColumnFact): boolean =>
      c.defaultKind === 'volatile' ||
      c.generatedStored ||
      SERIAL.has(c.type) ||
      c.identity ||
      (pgVersion < 12 && c.defaultKind !== 'none');
    return facts.columns
      .filter((c) => c.origin === 'add_column' && rewrites(c) && !state.isNew(c.table, c))
      .map((c) => ({ at: c, what: `column ${shown(c.column)} is filled row by row` }));
  },
});
