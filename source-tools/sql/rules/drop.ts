import { defineSqlRule, noConfig } from './define-sql-rule';
import type { DropFact } from '../facts/sql-facts';
import { shownName } from '../../../policy/text/table-name';

/** What holds everything else, or everything of one role. */
const WHOLE = new Set(['database', 'schema', 'owned', 'tablespace']);

function said(d: DropFact): string {
  const names = d.objects.slice(0, 10).map(shownName).join(', ');
  return `DROP ${d.objectType.toUpperCase().replaceAll('_', ' ')} ${names}`.trim();
}

export const drop = defineSqlRule({
  name: 'sql_drop',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'What is dropped is gone with its data, its grants and its dependants.',
  config: noConfig,
  examples: {
    bad: '/* cleanup */ DROP TABLE IF EXISTS orders_old',
    good: "CREATE TEMP TABLE t (id bigint) ON COMMIT DROP; SELECT 'DROP TABLE orders'",
  },
  find: ({ drops }) => drops.filter((d) => !WHOLE.has(d.objectType)).map((d) => ({ at: d, what: said(d) })),
});

export const dropDatabase = defineSqlRule({
  name: 'sql_drop_database',
  logicRevision: 2,
  defaultLevel: 'forbid',
  why: 'A database, a schema, a tablespace or all that a role owns goes at once.',
  config: noConfig,
  examples: { bad: 'DROP OWNED BY app', good: 'DROP VIEW report' },
  find: ({ drops }) => drops.filter((d) => WHOLE.has(d.objectType)).map((d) => ({ at: d, what: said(d) })),
});

export const truncate = defineSqlRule({
  name: 'sql_truncate',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'Every row goes, without a trigger for each, and without a WHERE that could be checked.',
  config: noConfig,
  examples: { bad: 'TRUNCATE orders, ONLY order_lines', good: 'SELECT truncate FROM t -- TRUNCATE orders' },
  find: ({ truncates }) => truncates.map((t) => ({ at: t, what: `TRUNCATE of ${t.tables.map(shownName).join(', ')}` })),
});

export const cascade = defineSqlRule({
  name: 'sql_cascade',
  logicRevision: 2,
  defaultLevel: 'forbid',
  why: 'CASCADE takes with it what the text does not name, so nobody can have reviewed it.',
  config: noConfig,
  advice: ['Name the dependent objects and drop them one by one.'],
  examples: { bad: 'TRUNCATE orders CASCADE', good: 'DROP TABLE orders RESTRICT' },
  find: ({ cascades }) => cascades.map((c) => ({ at: c, what: `${c.what.toUpperCase()} … CASCADE` })),
});
