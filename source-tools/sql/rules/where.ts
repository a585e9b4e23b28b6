import { defineSqlRule, type Hit } from './define-sql-rule';
import type { SqlFacts } from '../facts/sql-facts';
import { shownName } from '../../../policy/text/table-name';

function withoutWhere(facts: SqlFacts, kind: 'update' | 'delete'): readonly Hit[] {
  return facts.dml
    .filter((d) => d.kind === kind && d.where === 'absent')
    .map((d) => ({ at: d, what: `${kind.toUpperCase()} without WHERE on ${shownName(d.table)}` }));
}

const advice = ['Add a WHERE that selects only the intended rows.'];

export const deleteWithoutWhere = defineSqlRule({
  name: 'sql_delete_without_where',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'All rows of the table are deleted.',
  advice,
  examples: {
    bad: 'DELETE/**/FROM orders USING (SELECT 1 WHERE true) q',
    good: "DELETE FROM orders WHERE note = 'DELETE FROM orders'",
  },
  find: (facts) => withoutWhere(facts, 'delete'),
});

export const updateWithoutWhere = defineSqlRule({
  name: 'sql_update_without_where',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'All rows of the table are updated.',
  advice,
  examples: {
    bad: 'WITH u AS (UPDATE orders SET paid = true RETURNING id) SELECT count(*) FROM u',
    good: 'INSERT INTO orders (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET paid = true',
  },
  find: (facts) => withoutWhere(facts, 'update'),
});

export const tautologicalWhere = defineSqlRule({
  name: 'sql_tautological_where',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'A WHERE that is always true selects all rows, like a statement without WHERE.',
  advice,
  examples: { bad: 'DELETE FROM orders WHERE id = id', good: 'DELETE FROM orders WHERE id = parent_id' },
  find: ({ dml }) =>
    dml
      .filter((d) => d.where === 'always_true' || d.where === 'self_subquery')
      .map((d) => ({
        at: d,
        what: `${d.kind.toUpperCase()} on ${shownName(d.table)} with a condition that selects all rows: ${d.whereReason}`,
      })),
});
