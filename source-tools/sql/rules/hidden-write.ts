import { defineSqlRule, noConfig } from './define-sql-rule';
import type { HiddenWriteFact } from '../facts/sql-facts';

const SAID: Readonly<Record<HiddenWriteFact['what'], string>> = {
  select_into: 'SELECT INTO makes a table',
  rule_write: 'a rule that changes rows behind other statements',
  row_lock: 'SELECT … FOR UPDATE or SHARE locks rows',
  cte_write: 'a WITH query that changes rows',
  explain_analyze_write: 'EXPLAIN ANALYZE runs the write that it explains',
  copy_write: 'COPY of a query that changes rows',
  create_table_as_write: 'CREATE TABLE AS over a query that changes rows',
  merge_delete: 'MERGE that deletes',
  merge_not_matched_by_source: 'MERGE that changes rows which the source does not name',
};

export const hiddenWrite = defineSqlRule({
  name: 'sql_hidden_write',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'It begins like a read, and writes or locks.',
  config: noConfig,
  examples: {
    bad: 'EXPLAIN (ANALYZE) UPDATE orders SET paid = true WHERE id = 1',
    good: 'EXPLAIN (ANALYZE false) UPDATE orders SET paid = true WHERE id = 1',
  },
  find: ({ hiddenWrites }) => hiddenWrites.map((h) => ({ at: h, what: SAID[h.what] })),
});
