import { defineSqlRule, noConfig, type Hit } from './define-sql-rule';
import type { SqlFacts } from '../facts/sql-facts';
import { shownName } from '../../../policy/text/table-name';

function withoutWhere(facts: SqlFacts, kind: 'update' | 'delete'): readonly Hit[] {
  return facts.dml
    .filter((d) => d.kind === kind && d.where === 'absent')
    .map((d) => ({ at: d, what: `${kind.toUpperCase()} without WHERE on ${shownName(d.table)}` }));
}

const advice = ['Add a WHERE that selects the rows meant.'];

export const deleteWithoutWhere = defineSqlRule({
  name: 'sql_delete_without_where',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'Every row of the table goes.',
  config: noConfig,
  advice,
  examples: {
    bad: 'DELETE/**/FROM orders USING (SELECT 1 WHERE true) q',
    good: "DELETE FROM orders WHERE note = 'DELETE FROM orders'",
  },
  find: (facts) => withoutWhere(facts, 'delete'),
});

export const updateWithoutWhere = defineSqlRule({
  name: 'sql_update_without_where',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'Every row of the table is overwritten.',
  config: noConfig,
  advice,
  examples: {
    bad: 'WITH u AS (UPDATE orders SET paid = true RETURNING id) SELECT count(*) FROM u',
    good: 'INSERT INTO orders (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET paid = true',
  },
  find: (facts) => withoutWhere(facts, 'update'),
});

export const tautologicalWhere = defineSqlRule({
  name: 'sql_tautological_where',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'A WHERE that is always true selects like none, and passes a check that only looks for the word.',
  config: noConfig,
  advice,
  examples: { bad: 'DELETE FROM orders WHERE id = id', good: 'DELETE FROM orders WHERE id = parent_id' },
  find: ({ dml }) =>
    dml
      .filter((d) => d.where === 'always_true' || d.where === 'self_subquery')
      .map((d) => ({
        at: d,
        what: `${d.kind.toUpperCase()} on ${shownName(d.table)} whose condition selects everything: ${d.whereReason}`,
      })),
});
