import { z } from 'zod';
import { defineSqlRule } from './define-sql-rule';
import { shownName } from '../../../policy/text/table-name';

export const insertWithoutColumns = defineSqlRule({
  name: 'sql_insert_without_columns',
  logicRevision: 5,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'If a column is added or its position changes, values are inserted into the wrong columns.',
  examples: { bad: 'INSERT INTO orders VALUES (1, true)', good: 'INSERT INTO orders (id, paid) VALUES (1, true)' },
  find: ({ dml }) =>
    dml
      .filter((d) => (d.kind === 'insert' || d.kind === 'merge') && !d.hasColumnList)
      .map((d) => ({ at: d, what: `INSERT into ${shownName(d.table)} without a column list` })),
});

export const insertRowLimit = defineSqlRule({
  name: 'sql_insert_row_limit',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'A reviewer cannot check this many rows of VALUES.',
  config: z.strictObject({
    maxRows: z.int().min(0).default(1000).describe('Maximum number of rows in the VALUES of one INSERT.'),
  }),
  examples: {
    bad: 'INSERT INTO orders (id) VALUES (1), (2), (3)',
    good: 'INSERT INTO orders (id) VALUES (1), (2)',
    config: { maxRows: 2 },
  },
  find: ({ dml }, { maxRows }) =>
    dml
      .filter((d) => (d.valueRows ?? 0) > maxRows)
      .map((d) => ({
        at: d,
        what: `INSERT of ${d.valueRows ?? 0} rows into ${shownName(d.table)}, more than ${maxRows}`,
      })),
});
