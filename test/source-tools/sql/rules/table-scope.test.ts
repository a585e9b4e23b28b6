import { TableScope } from '../../../../source-tools/sql/rules/table-scope';
import { fires, run } from './support/run-rule';

const scope = async (sql: string, config: object): Promise<boolean> => fires('sql_table_scope', sql, { config });

describe('sql_table_scope', () => {
  it('does not fire without a list', async () => {
    expect(await scope('DROP TABLE a.b', {})).toBe(false);
  });

  it('fires for every table if the allow list is empty [T7]', async () => {
    expect(await scope('SELECT 1 FROM t', { allow: [] })).toBe(true);
    expect(await scope('SELECT 1', { allow: [] })).toBe(false);
  });

  it.each([
    ['a listed table', 'DELETE FROM orders', false],
    ['by its schema', 'DELETE FROM public.orders', false],
    ['written in another case', 'DELETE FROM ORDERS', false],
    ['in quotes that keep another case', 'DELETE FROM "Orders"', true],
    ['in another schema', 'DELETE FROM audit.orders', true],
    ['another table', 'DELETE FROM customers', true],
    ['an additional table in USING', 'DELETE FROM orders USING customers WHERE true', true],
    ['an additional table in a subquery', 'UPDATE orders SET a = (SELECT max(b) FROM customers)', true],
    ['an additional table in a body', 'DO $$ BEGIN DELETE FROM customers; END $$', true],
    ['a CTE of another name', 'WITH c AS (SELECT 1) SELECT * FROM c, orders', false],
    [
      'a CTE with a listed name that reads another table',
      'WITH orders AS (SELECT * FROM customers) SELECT * FROM orders',
      true,
    ],
    ['a name that differs by a no-break space', 'DELETE FROM orders\u00a0', true],
    ['the system catalog', 'SELECT 1 FROM pg_authid', true],
    ['a whole schema', 'GRANT SELECT ON ALL TABLES IN SCHEMA public TO a', true],
    ['a drop', 'DROP TABLE customers', true],
  ])('reads names like the server: %s', async (_what, sql, expected) => {
    expect(await scope(sql, { allow: ['Orders'] })).toBe(expected);
  });

  it('truncates long names like the server', async () => {
    const long = 'a'.repeat(80);
    expect(await scope(`DELETE FROM ${long}`, { allow: ['a'.repeat(63)] })).toBe(false);
    expect(await scope(`DELETE FROM ${long}`, { deny: [long] })).toBe(true);
  });

  it('denies an unqualified entry in every schema, and all tables of a denied schema', async () => {
    expect(await scope('SELECT 1 FROM auth.users', { deny: ['users'] })).toBe(true);
    expect(await scope('SELECT 1 FROM auth.anything', { deny: ['auth.*'] })).toBe(true);
    expect(await scope('DROP SCHEMA auth', { deny: ['auth.users'] })).toBe(true);
    expect(await scope('SELECT 1 FROM pg_authid', { deny: ['pg_catalog.*'] })).toBe(true);
    expect(await scope('SELECT 1 FROM orders', { deny: ['auth.*'] })).toBe(false);
  });

  it('ignores tables that are only read if `reads` is false', async () => {
    const writes = { allow: ['public.orders'], reads: false };
    expect(await scope('DELETE FROM orders USING customers WHERE true', writes)).toBe(false);
    // Also if search_path decides which table is read.
    expect(await scope('SET search_path = audit; SELECT 1 FROM orders', writes)).toBe(false);
    expect(await scope('SET search_path = audit; DELETE FROM public.orders USING customers', writes)).toBe(false);
    expect(await scope('SET search_path = audit; DELETE FROM orders', writes)).toBe(true);
    expect(await scope('DO $$ DECLARE q text; BEGIN EXECUTE q; END $$', writes)).toBe(true);
  });

  it('fires if tables cannot be determined: a changed search_path, SQL built at run time', async () => {
    expect(await scope('SET search_path = audit; DELETE FROM orders', { allow: ['orders'] })).toBe(true);
    expect(
      await scope("SELECT set_config('search_path', 'audit', true); DELETE FROM orders", { allow: ['orders'] }),
    ).toBe(true);
    expect(await scope('DO $$ DECLARE q text; BEGIN EXECUTE q; END $$', { allow: ['orders'] })).toBe(true);
    expect(await scope('SET search_path = audit; DELETE FROM public.orders', { allow: ['orders'] })).toBe(false);
  });

  it('uses the text and never the metadata', async () => {
    const result = await run('sql_table_scope', 'DELETE FROM payroll', {
      config: { allow: ['orders'] },
      metadata: { table_name: 'orders' },
    });
    expect(result.status).toBe('BLOCK');
  });

  it('refuses entries that are not valid names when the bundle is read', () => {
    expect(TableScope.safeParse({ allow: ['a.b.c.d'] }).success).toBe(false);
    expect(TableScope.safeParse({ allow: ['"open'] }).success).toBe(false);
    expect(TableScope.safeParse({ allow: ['a..b'] }).success).toBe(false);
    expect(TableScope.safeParse({ allow: ['"A.b".c'] }).success).toBe(true);
  });
});
