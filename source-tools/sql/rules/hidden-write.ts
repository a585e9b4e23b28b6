import { defineSqlRule } from './define-sql-rule';
import type { HiddenWriteFact } from '../facts/sql-facts';

const DESCRIPTIONS: Readonly<Record<HiddenWriteFact['what'], string>> = {
  select_into: 'SELECT INTO creates a table',
  rule_write: 'a rule that changes rows when other statements run',
  row_lock: 'SELECT … FOR UPDATE or SHARE locks rows',
  cte_write: 'a WITH query that changes rows',
  explain_analyze_write: 'EXPLAIN ANALYZE executes the write',
  copy_write: 'COPY of a query that changes rows',
  create_table_as_write: 'CREATE TABLE AS with a query that changes rows',
  merge_delete: 'MERGE that deletes rows',
  merge_not_matched_by_source: 'MERGE that changes rows not matched by the source',
};

export const hiddenWrite = defineSqlRule({
  name: 'sql_hidden_write',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'The statement looks like a read but writes or locks rows.',
  examples: {
    bad: 'EXPLAIN (ANALYZE) UPDATE orders SET paid = true WHERE id = 1',
    good: 'EXPLAIN (ANALYZE false) UPDATE orders SET paid = true WHERE id = 1',
  },
  find: ({ hiddenWrites }) => hiddenWrites.map((h) => ({ at: h, what: DESCRIPTIONS[h.what] })),
});
