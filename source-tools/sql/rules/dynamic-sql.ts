import { z } from 'zod';
import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule } from './define-sql-rule';
import type { DynamicSqlFact } from '../facts/sql-facts';

function said(d: DynamicSqlFact): string {
  switch (d.form) {
    case 'plpgsql_execute':
      return d.constant ? 'EXECUTE of constant text' : 'EXECUTE of text that is built at run time';
    case 'execute_prepared':
      return `EXECUTE of the prepared statement ${shown(d.subject)}, which this text does not define`;
    case 'sql_text_function':
      return `${shown(d.subject)} runs text that is built at run time`;
    case 'unread_body':
      return `a body in ${shown(d.subject)} that could not be read`;
    case 'unread_expression':
      return 'an expression of a PL/pgSQL body that could not be read';
    default:
      return d.form satisfies never;
  }
}

export const dynamicSql = defineSqlRule({
  name: 'sql_dynamic_sql',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'SQL that is made at run time was seen by no rule.',
  config: z.strictObject({
    constantToo: z.boolean().default(false).describe('Also where the text of EXECUTE is constant, and so was read.'),
  }),
  advice: ['Write the statement out, or keep the text of EXECUTE constant.'],
  examples: {
    bad: "DO $$ BEGIN EXECUTE 'DROP TABLE ' || current_setting('x'); END $$",
    good: "DO $$ BEGIN EXECUTE 'SELECT ' || '1'; END $$",
  },
  // What a constant EXECUTE holds was parsed, and is judged by the other rules.
  find: ({ dynamicSql: found }, { constantToo }) =>
    found.filter((d) => constantToo || !d.constant).map((d) => ({ at: d, what: said(d) })),
});
