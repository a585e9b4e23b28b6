import { defineSqlRule } from './define-sql-rule';
import type { DropFact } from '../facts/sql-facts';
import { shownName } from '../../../policy/text/table-name';

/** Object types that contain many other objects. */
const CONTAINERS = new Set(['database', 'schema', 'owned', 'tablespace']);

function describe(d: DropFact): string {
  const names = d.objects.slice(0, 10).map(shownName).join(', ');
  return `DROP ${d.objectType.toUpperCase().replaceAll('_', ' ')} ${names}`.trim();
}

export const drop = defineSqlRule({
  name: 'sql_drop',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'A dropped object is lost, with its data and its grants.',
  examples: {
    bad: '/* cleanup */ DROP TABLE IF EXISTS orders_old',
    good: "CREATE TEMP TABLE t (id bigint) ON COMMIT DROP; SELECT 'DROP TABLE orders'",
  },
  find: ({ drops }) => drops.filter((d) => !CONTAINERS.has(d.objectType)).map((d) => ({ at: d, what: describe(d) })),
});

export const dropDatabase = defineSqlRule({
  name: 'sql_drop_database',
  logicRevision: 4,
  defaultLevel: 'forbid',
  why: 'This drops a database, a schema, a tablespace, or everything that a role owns.',
  examples: { bad: 'DROP OWNED BY app', good: 'DROP VIEW report' },
  find: ({ drops }) => drops.filter((d) => CONTAINERS.has(d.objectType)).map((d) => ({ at: d, what: describe(d) })),
});

export const truncate = defineSqlRule({
  name: 'sql_truncate',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'All rows are deleted, without row triggers and without a WHERE that could be checked.',
  examples: { bad: 'TRUNCATE orders, ONLY order_lines', good: 'SELECT truncate FROM t -- TRUNCATE orders' },
  find: ({ truncates }) => truncates.map((t) => ({ at: t, what: `TRUNCATE of ${t.tables.map(shownName).join(', ')}` })),
});

export const cascade = defineSqlRule({
  name: 'sql_cascade',
  logicRevision: 5,
  defaultLevel: 'forbid',
  why: 'CASCADE also affects objects that the text does not name, so they cannot be reviewed.',
  advice: ['Name each dependent object in its own statement.'],
  examples: { bad: 'TRUNCATE orders CASCADE', good: 'DROP TABLE orders RESTRICT' },
  find: ({ cascades }) => cascades.map((c) => ({ at: c, what: `${c.what.toUpperCase()} … CASCADE` })),
});
