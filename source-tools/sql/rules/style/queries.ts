import { defineSqlRule } from '../define-sql-rule';
import { shownName } from '../../../../policy/text/table-name';

const style = { pack: 'sql-postgres-style', logicRevision: 4, defaultLevel: 'advise', status: 'WARN' } as const;

export const selectWithoutWhere = defineSqlRule({
  ...style,
  name: 'sql_select_without_where',
  why: 'The query reads the full table.',
  examples: { bad: 'SELECT id FROM orders', good: 'SELECT id FROM orders WHERE paid' },
  find: ({ selects }) => selects.filter((s) => !s.hasWhere).map((s) => ({ at: s, what: 'SELECT without WHERE' })),
});

export const selectStar = defineSqlRule({
  ...style,
  name: 'sql_select_star',
  why: 'The result changes when a column is added to the table.',
  examples: { bad: 'SELECT o.* FROM orders o', good: 'SELECT count(*) FROM orders' },
  find: ({ selects }) => selects.filter((s) => s.star).map((s) => ({ at: s, what: 'SELECT *' })),
});

export const leadingWildcard = defineSqlRule({
  ...style,
  name: 'sql_leading_wildcard',
  why: 'LIKE with a leading % cannot use a B-tree index and scans all rows.',
  examples: { bad: "SELECT id FROM orders WHERE note LIKE '%x'", good: "SELECT id FROM orders WHERE note LIKE 'x%'" },
  find: ({ wildcards }) => wildcards.map((w) => ({ at: w, what: 'LIKE with a leading %' })),
});

export const insertOrderByRandom = defineSqlRule({
  ...style,
  name: 'sql_insert_order_by_random',
  why: 'ORDER BY random() sorts all rows, even if only some of them are inserted.',
  examples: {
    bad: 'INSERT INTO sample (id) SELECT id FROM orders ORDER BY random()',
    good: 'INSERT INTO sample (id) SELECT id FROM orders ORDER BY id',
  },
  find: ({ dml }) =>
    dml
      .filter((d) => d.orderByRandom)
      .map((d) => ({ at: d, what: `INSERT into ${shownName(d.table)} ordered by random()` })),
});
