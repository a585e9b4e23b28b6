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

it.each<readonly [sql: string, expected: boolean]>([
  ["SELECT ('/etc/passwd'::text).pg_read_file", true],
  ["SELECT f.pg_read_file FROM unnest(ARRAY['/etc/passwd']) f", true],
  ["UPDATE orders SET note = ('/etc/passwd'::text).PG_read_file WHERE id = 7", true],
  ["DO $$ BEGIN PERFORM ('x'::text).lo_import; END $$", true],
  ['SELECT o.id, (o).note FROM orders o', false],
])('reads the name after a dot as a call: %s', async (sql, expected) => {
  expect(await fires('sql_dangerous_function', sql)).toBe(expected);
});
