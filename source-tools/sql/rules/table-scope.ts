import { z } from 'zod';
import { defineSqlRule, type Hit } from './define-sql-rule';
import type { RelationFact, SqlFacts, SqlName } from '../facts/sql-facts';
import { parseName, shownName } from '../../../policy/text/table-name';

/** `orders`, `sales.orders`, `sales.*` or `"Odd Name"`. Case is folded like in PostgreSQL. */
const Entry = z
  .string()
  .min(1)
  .max(300)
  .refine((text) => parseName(text) !== null, 'expected table, schema.table or schema.*');

export const TableScope = z.strictObject({
  allow: z
    .array(Entry)
    .max(2000)
    .nullable()
    .default(null)
    .describe(
      'Allowed tables: `orders`, `sales.orders` or `sales.*`. Null allows every table, an empty list allows none.',
    ),
  deny: z
    .array(Entry)
    .max(2000)
    .default([])
    .describe('Denied tables, written like those of `allow`, which they override.'),
  defaultSchema: z.string().min(1).max(63).default('public').describe('Schema of names without a schema.'),
  reads: z.boolean().default(true).describe('Whether tables that are only read count.'),
});
export type TableScope = z.infer<typeof TableScope>;

export const tableScope = defineSqlRule({
  name: 'sql_table_scope',
  logicRevision: 5,
  defaultLevel: 'forbid',
  why: 'The change uses a table outside the configured scope. The table named in the metadata is only a claim of the agent.',
  config: TableScope,
  examples: {
    bad: 'DELETE FROM "orders" USING secret.payroll p WHERE orders.id = p.id',
    good: 'WITH payroll AS (SELECT 1 AS id) DELETE FROM "orders" USING payroll p WHERE orders.id = p.id',
    config: { allow: ['Orders'], deny: ['secret.*'] },
  },
  find: (facts, config) =>
    config.allow === null && config.deny.length === 0
      ? []
      : [...outOfScope(facts, config), ...unresolved(facts, config)],
});

function outOfScope(facts: SqlFacts, config: TableScope): readonly Hit[] {
  const allow = config.allow?.flatMap((e) => parseName(e) ?? []) ?? null;
  const deny = config.deny.flatMap((e) => parseName(e) ?? []);
  return usedTables(facts, config).flatMap((r): readonly Hit[] => {
    const schema = schemaOf(r.relation, config.defaultSchema);
    if (deny.some((entry) => denies(entry, r.relation, schema)))
      return [{ at: r, what: `${describe(r)} is on the deny list` }];
    if (allow !== null && !allow.some((entry) => allows(entry, r.relation, schema, config.defaultSchema)))
      return [{ at: r, what: `${describe(r)} is not on the allow list` }];
    return [];
  });
}

/** Hits for tables that cannot be determined: the text changes search_path, or builds SQL at run time. */
function unresolved(facts: SqlFacts, config: TableScope): readonly Hit[] {
  const pathChange = facts.settings.find((s) => s.name === 'search_path' || s.name === '*');
  const unqualified = usedTables(facts, config).find((r) => r.relation.schema === null);
  const paths =
    pathChange !== undefined && unqualified !== undefined
      ? [{ at: unqualified, what: `${describe(unqualified)} depends on a search_path that the text changes` }]
      : [];
  const unseen = facts.dynamicSql
    .filter((d) => !d.constant)
    .map((d) => ({ at: d, what: 'SQL that is built at run time, so its tables are unknown' }));
  return [...paths, ...unseen];
}

function usedTables(facts: SqlFacts, { reads }: TableScope): readonly RelationFact[] {
  return reads ? facts.relations : facts.relations.filter((r) => r.access !== 'read');
}

function describe(r: RelationFact): string {
  return `${shownName(r.relation)} (${r.access})`;
}

/** PostgreSQL searches pg_catalog first, so an unqualified pg_ name is a system object. */
function schemaOf(relation: SqlName, defaultSchema: string): string {
  return relation.schema ?? (relation.name.startsWith('pg_') ? 'pg_catalog' : defaultSchema);
}

/** An entry without a schema denies the name in every schema. */
function denies(entry: SqlName, relation: SqlName, schema: string): boolean {
  if (entry.schema !== null && entry.schema !== schema) return false;
  return entry.name === '*' || relation.name === '*' || entry.name === relation.name;
}

/** An entry without a schema allows the name only in the default schema. */
function allows(entry: SqlName, relation: SqlName, schema: string, defaultSchema: string): boolean {
  return (entry.schema ?? defaultSchema) === schema && (entry.name === '*' || entry.name === relation.name);
}
