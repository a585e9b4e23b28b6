import { z } from 'zod';
import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule } from './define-sql-rule';
import type { DynamicSqlFact } from '../facts/sql-facts';

function describe(d: DynamicSqlFact): string {
  switch (d.form) {
    case 'plpgsql_execute':
      return d.constant ? 'EXECUTE of constant SQL' : 'EXECUTE of SQL that is built at run time';
    case 'execute_prepared':
      return `EXECUTE of the prepared statement ${shown(d.subject)}, which this text does not define`;
    case 'sql_text_function':
      return `${shown(d.subject)} runs SQL that is built at run time`;
    case 'unread_body':
      return `a body in ${shown(d.subject)} that could not be parsed`;
    case 'unread_expression':
      return 'an expression in a PL/pgSQL body that could not be parsed';
    default:
      return d.form satisfies never;
  }
}

export const dynamicSql = defineSqlRule({
  name: 'sql_dynamic_sql',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'SQL that is built at run time cannot be checked by any rule.',
  config: z.strictObject({
    constantToo: z.boolean().default(false).describe('Fire also if the SQL is constant and was parsed.'),
  }),
  advice: ['Write the statement directly, or use a constant string in EXECUTE.'],
  examples: {
    bad: "DO $$ BEGIN EXECUTE 'DROP TABLE ' || current_setting('x'); END $$",
    good: "DO $$ BEGIN EXECUTE 'SELECT ' || '1'; END $$",
  },
  // Constant SQL was parsed, so the other rules check it.
  find: ({ dynamicSql: found }, { constantToo }) =>
    found.filter((d) => constantToo || !d.constant).map((d) => ({ at: d, what: describe(d) })),
});
