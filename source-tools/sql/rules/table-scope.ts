import { z } from 'zod';
import { defineSqlRule, type Hit } from './define-sql-rule';
import type { RelationFact, SqlFacts, SqlName } from '../facts/sql-facts';
import { parseName, shownName } from '../../../policy/text/table-name';

/** `orders`, `sales.orders`, `sales.*`, `"Odd Name"`: folded as PostgreSQL folds names. */
const Entry = z
  .string()
  .min(1)
  .max(300)
  .refine((text) => parseName(text) !== null, 'expected table, schema.table or schema.*');

export const TableScope = z.strictObject({
  /** Null: any table. An empty list: none. */
  allow: z.array(Entry).max(2000).nullable().default(null),
  deny: z.array(Entry).max(2000).default([]),
  /** The schema that an unqualified name means. */
  defaultSchema: z.string().min(1).max(63).default('public'),
  /** False: tables that are only read are not looked at. */
  reads: z.boolean().default(true),
});
export type TableScope = z.infer<typeof TableScope>;

export const tableScope = defineSqlRule({
  name: 'sql_table_scope',
  logicRevision: 2,
  defaultLevel: 'forbid',
  why: 'An agent touches tables that are none of its business; the table named in the metadata is only what it says.',
  config: TableScope,
  examples: {
    bad: 'DELETE FROM "orders" USING secret.payroll p WHERE orders.id = p.id',
    good: 'WITH payroll AS (SELECT 1 AS id) DELETE FROM "orders" USING payroll p WHERE orders.id = p.id',
    config: { allow: ['Orders'], deny: ['secret.*'] },
  },
  find: (facts, config) =>
    config.allow === null && config.deny.length === 0 ? [] : [...outOfScope(facts, config), ...unresolved(facts)],
});

function outOfScope(facts: SqlFacts, config: TableScope): readonly Hit[] {
  const allow = config.allow?.flatMap((e) => parseName(e) ?? []) ?? null;
  const deny = config.deny.flatMap((e) => parseName(e) ?? []);
  return facts.relations
    .filter((r) => config.reads || r.access !== 'read')
    .flatMap((r): readonly Hit[] => {
      const schema = schemaOf(r.relation, config.defaultSchema);
      if (deny.some((entry) => denies(entry, r.relation, schema)))
        return [{ at: r, what: `${said(r)} is on the deny list` }];
      if (allow !== null && !allow.some((entry) => allows(entry, r.relation, schema, config.defaultSchema)))
        return [{ at: r, what: `${said(r)} is not on the allow list` }];
      return [];
    });
}

/** What the lists cannot be held against: names that a changed search_path resolves, and SQL that was not seen. */
function unresolved(facts: SqlFacts): readonly Hit[] {
  const moved = facts.settings.find((s) => s.name === 'search_path' || s.name === '*');
  const bare = facts.relations.find((r) => r.relation.schema === null);
  const paths =
    moved !== undefined && bare !== undefined
      ? [{ at: bare, what: `${said(bare)} is found through a search_path that the text itself changes` }]
      : [];
  const unseen = facts.dynamicSql
    .filter((d) => !d.constant)
    .map((d) => ({ at: d, what: 'SQL made at run time, whose tables are unknown' }));
  return [...paths, ...unseen];
}

function said(r: RelationFact): string {
  return `${shownName(r.relation)} (${r.access})`;
}

/** pg_catalog is always searched first, so an unqualified pg_ name is the system's. */
function schemaOf(relation: SqlName, defaultSchema: string): string {
  return relation.schema ?? (relation.name.startsWith('pg_') ? 'pg_catalog' : defaultSchema);
}

/** An entry without a schema denies the name in every schema: the stricter reading. */
function denies(entry: SqlName, relation: SqlName, schema: string): boolean {
  if (entry.schema !== null && entry.schema !== schema) return false;
  return entry.name === '*' || relation.name === '*' || entry.name === relation.name;
}

/** An entry without a schema allows the name in the default schema only. */
function allows(entry: SqlName, relation: SqlName, schema: string, defaultSchema: string): boolean {
  return (entry.schema ?? defaultSchema) === schema && (entry.name === '*' || entry.name === relation.name);
}
