import { z } from 'zod';
import { shown } from '../../../../policy/text/shown-name';
import { defineSqlRule } from '../define-sql-rule';
import { shownName } from '../../../../policy/text/table-name';
import { sameName } from '../../facts/same-name';

const style = { pack: 'sql-postgres-style', logicRevision: 5, defaultLevel: 'advise', status: 'WARN' } as const;

export const requirePrimaryKey = defineSqlRule({
  ...style,
  name: 'sql_require_primary_key',
  why: 'Without a primary key, replication and the check for concurrent changes cannot identify rows.',
  examples: {
    bad: 'CREATE TABLE t (id bigint)',
    good: 'CREATE TABLE t (id bigint); ALTER TABLE t ADD PRIMARY KEY (id)',
  },
  find: (facts) =>
    facts.tables
      .filter((t) => !t.temporary && !t.hasPrimaryKey && !t.derived)
      .filter(
        (t) =>
          !facts.constraints.some((c) => c.type === 'primary_key' && c.table !== null && sameName(c.table, t.table)),
      )
      .map((t) => ({ at: t, what: `${shownName(t.table)} has no primary key` })),
});

export const requireSchema = defineSqlRule({
  ...style,
  logicRevision: 6,
  name: 'sql_require_schema',
  why: 'The schema of an unqualified name depends on the current search_path.',
  examples: {
    bad: 'CREATE TABLE t (id bigint)',
    good: 'CREATE TABLE public.t (id bigint); CREATE TEMP TABLE s (id bigint); DROP TABLE public.u',
  },
  find: ({ tables, alters, drops }) => {
    const altered = alters.filter((a) => TABLE_PARTS.has(a.objectType));
    const named = [
      ...tables.filter((t) => !t.temporary).map((at) => ({ at, table: at.table })),
      // One ALTER TABLE can have several actions.
      ...altered
        .filter((a, i) => altered.findIndex((b) => b.statement === a.statement) === i)
        .flatMap((at) => (at.object === null ? [] : [{ at, table: at.object }])),
      ...drops.filter((d) => d.objectType === 'table').flatMap((at) => at.objects.map((table) => ({ at, table }))),
    ];
    return named
      .filter(({ table }) => table.schema === null)
      .map(({ at, table }) => ({ at, what: `${shownName(table)} has no schema` }));
  },
});

/** Object types of ALTER TABLE. RENAME reports the renamed part (column, constraint) as its type. */
export const TABLE_PARTS = new Set(['table', 'column', 'tabconstraint']);

export const requireComment = defineSqlRule({
  ...style,
  name: 'sql_require_comment',
  why: 'Without a comment, readers have to guess the purpose.',
  config: z.strictObject({
    tables: z.boolean().default(true).describe('Whether each new table needs a comment.'),
    columns: z.boolean().default(false).describe('Whether each column of a new table needs a comment.'),
  }),
  examples: {
    bad: "CREATE TABLE t (id bigint); COMMENT ON TABLE t IS 'x'; COMMENT ON TABLE t IS NULL",
    good: "CREATE TABLE t (id bigint); COMMENT ON TABLE t IS 'things'",
  },
  find: (facts, config) => {
    const described = (table: { schema: string | null; name: string }, column: string | null): boolean =>
      facts.comments.filter((c) => c.column === column && sameName(c.table, table)).at(-1)?.hasText === true;
    return [
      ...(config.tables
        ? facts.tables
            .filter((t) => !t.temporary && !described(t.table, null))
            .map((t) => ({ at: t, what: `${shownName(t.table)} has no comment` }))
        : []),
      ...(config.columns
        ? facts.columns
            .filter((c) => c.origin !== 'alter_type' && c.table !== null && !described(c.table, c.column))
            .map((c) => ({ at: c, what: `column ${shown(c.column)} has no comment` }))
        : []),
    ];
  },
});

export const dropNotNull = defineSqlRule({
  ...style,
  name: 'sql_drop_not_null',
  why: 'Readers of this column may not expect NULL.',
  examples: {
    bad: 'ALTER TABLE t ALTER COLUMN note DROP NOT NULL',
    good: 'ALTER TABLE t ALTER COLUMN note DROP DEFAULT',
  },
  find: ({ alters }) =>
    alters
      .filter((a) => a.action === 'drop_not_null')
      .map((a) => ({ at: a, what: `DROP NOT NULL of ${shown(a.member ?? '')}` })),
});

export const enumValueOrder = defineSqlRule({
  ...style,
  name: 'sql_enum_value_order',
  why: 'A value without BEFORE or AFTER is added at the end, and enum values are compared by their order.',
  examples: { bad: "ALTER TYPE mood ADD VALUE 'fine'", good: "ALTER TYPE mood ADD VALUE 'fine' AFTER 'sad'" },
  find: ({ alters }) =>
    alters
      .filter((a) => a.action === 'add_enum_value')
      .map((a) => ({ at: a, what: 'ADD VALUE without BEFORE or AFTER' })),
});

export const domainConstraint = defineSqlRule({
  ...style,
  name: 'sql_domain_constraint',
  why: 'Adding or validating a constraint of a domain checks all columns of that domain, in every table, under a lock.',
  examples: { bad: 'CREATE DOMAIN positive AS numeric CHECK (value > 0)', good: 'CREATE DOMAIN positive AS numeric' },
  find: ({ constraints }) =>
    constraints
      .filter((c) => c.table === null && (c.type === 'check' || c.type === 'not_null'))
      .map((c) => ({ at: c, what: c.type === 'check' ? 'a CHECK on a domain' : 'NOT NULL on a domain' })),
});
