import { z } from 'zod';
import { defineSqlRule } from './define-sql-rule';
import type { SqlName } from '../facts/sql-facts';
import { parseName, shownName } from '../../../policy/text/table-name';
import { wordList } from '../../../policy/text/word-list';

/** Functions that access files or other servers, or run SQL from text. Matched in any schema. */
const DANGEROUS = new Set(
  wordList(`
  pg_read_file pg_read_binary_file pg_stat_file pg_ls_dir pg_ls_logdir pg_ls_waldir pg_ls_tmpdir pg_ls_archive_statusdir pg_ls_logicalsnapdir pg_ls_logicalmapdir pg_ls_replslotdir pg_ls_summariesdir
  pg_current_logfile pg_logdir_ls pg_file_write pg_file_sync pg_file_rename pg_file_unlink pg_file_read pg_file_length
  lo_import lo_export
  query_to_xml query_to_xmlschema query_to_xml_and_xmlschema cursor_to_xml cursor_to_xmlschema table_to_xml table_to_xmlschema table_to_xml_and_xmlschema
  schema_to_xml schema_to_xmlschema schema_to_xml_and_xmlschema database_to_xml database_to_xmlschema database_to_xml_and_xmlschema
  pg_import_system_collations pg_extension_config_dump xpath_table connectby crosstab_hash
  http http_get http_post http_put http_patch http_delete http_head
`),
);
/** Prefixes of function families that all count as dangerous. */
const DANGEROUS_PREFIXES = ['dblink', 'binary_upgrade_', 'postgres_fdw_'];

/** Schemas of extensions whose functions send requests, or run SQL from text later: pg_net, pg_cron, aws_s3, aws_lambda. */
const DANGEROUS_SCHEMAS: ReadonlySet<string | null> = new Set(['net', 'cron', 'aws_s3', 'aws_lambda']);

function isDangerous({ schema, name }: SqlName): boolean {
  return (
    DANGEROUS_SCHEMAS.has(schema) || DANGEROUS.has(name) || DANGEROUS_PREFIXES.some((prefix) => name.startsWith(prefix))
  );
}

function isAllowed(called: SqlName, allow: readonly string[]): boolean {
  return allow.some((text) => {
    const entry = parseName(text);
    return entry?.name === called.name && (entry.schema === null || entry.schema === called.schema);
  });
}

export const dangerousFunction = defineSqlRule({
  name: 'sql_dangerous_function',
  logicRevision: 7,
  defaultLevel: 'forbid',
  why: 'A function in a SELECT can read files of the server, connect to other servers, or run SQL from text.',
  config: z.strictObject({
    allow: z
      .array(z.string().min(1).max(130))
      .max(200)
      .default([])
      .describe('Functions that may be called. A name without a schema allows the function in every schema.'),
  }),
  examples: {
    bad: 'SELECT U&"pg_read\\005ffile"(\'/etc/passwd\')',
    good: "SELECT 'pg_read_file', pg_read_file FROM t",
  },
  find: ({ functionCalls }, { allow }) =>
    functionCalls
      .filter(({ function: called }) => isDangerous(called) && !isAllowed(called, allow))
      .map((call) => ({
        at: call,
        what: `${shownName(call.function)}() accesses data outside the database or runs SQL from text`,
      })),
});
