import { fires } from './support/run-rule';

it.each<readonly [allow: string, sql: string, expected: boolean]>([
  ['dblink', "SELECT ext.dblink('x', 'SELECT 1')", false],
  ['ext.dblink', "SELECT ext.dblink('x', 'SELECT 1')", false],
  ['Ext.DBlink', "SELECT ext.dblink('x', 'SELECT 1')", false],
  ['ext.dblink', "SELECT public.dblink('x', 'SELECT 1')", true],
  ['ext.dblink', "SELECT dblink('x', 'SELECT 1')", true],
  ['audit.pg_read_file', "SELECT pg_catalog.pg_read_file('x')", true],
  ['dblink_exec', "SELECT dblink('x', 'SELECT 1')", true],
  ['net.http_get', "SELECT net.http_get('http://a')", false],
  ['net.http_get', "SELECT net.http_post('http://a')", true],
])('allows a function of the named schema only: %s, %s', async (allow, sql, expected) => {
  expect(await fires('sql_dangerous_function', sql, { config: { allow: [allow] } })).toBe(expected);
});
