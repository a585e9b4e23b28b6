import { factsOf } from '../rules/support/run-rule';

const relationsOf = async (text: string) =>
  (await factsOf(text)).relations.map((r) => `${r.relation.schema ?? ''}.${r.relation.name}:${r.access}`);

describe('names are normalized like in PostgreSQL', () => {
  it.each([
    ['unquoted, to lower case', 'DELETE FROM Orders', '.orders:write'],
    ['quoted, as written', 'DELETE FROM "Orders"', '.Orders:write'],
    ['with Unicode escapes', 'DELETE FROM U&"ord\\0065rs"', '.orders:write'],
    ['with a custom escape character', 'DELETE FROM U&"ord!0065rs" UESCAPE \'!\'', '.orders:write'],
    ['truncated to 63 bytes', `DELETE FROM ${'a'.repeat(70)}`, `.${'a'.repeat(63)}:write`],
    ['with a schema', 'DELETE FROM "Sales" . Orders', 'Sales.orders:write'],
    ['with a database in front', 'DELETE FROM shop.sales.orders', 'sales.orders:write'],
    ['with a no-break space, which is a letter', 'DELETE FROM orders\u00a0', '.orders\u00a0:write'],
  ])('%s', async (_how, text, name) => {
    expect(await relationsOf(text)).toEqual([name]);
  });
});

describe('relations', () => {
  it.each([
    ['omit a CTE', 'WITH t AS (SELECT 1) SELECT * FROM t', []],
    ['include the table that a CTE of the same name reads', 'WITH t AS (SELECT * FROM t) SELECT * FROM t', ['.t:read']],
    [
      'omit the reference of a recursive CTE to itself',
      'WITH RECURSIVE t AS (SELECT 1 UNION ALL SELECT * FROM t) SELECT * FROM t',
      [],
    ],
    [
      'include a qualified name even if a CTE has that name',
      'WITH t AS (SELECT 1) SELECT * FROM public.t',
      ['public.t:read'],
    ],
    [
      'include a table that is read before a CTE of that name is defined',
      'WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a, b',
      ['.b:read'],
    ],
    ['see an outer CTE from a subquery', 'WITH t AS (SELECT 1) SELECT (SELECT max(1) FROM t)', []],
    [
      'do not see a CTE outside of its statement',
      'SELECT * FROM (WITH t AS (SELECT 1) SELECT * FROM t) x, t',
      ['.t:read'],
    ],
    ['include the target of a DELETE, which is never a CTE', 'WITH t AS (SELECT 1) DELETE FROM t', ['.t:write']],
    [
      'include every table of a TRUNCATE and of a DROP',
      'TRUNCATE a, b.c; DROP TABLE d, e.f',
      ['.a:write', 'b.c:write', '.d:ddl', 'e.f:ddl'],
    ],
    ['include the table of a dropped trigger', 'DROP TRIGGER x ON s.t', ['s.t:ddl']],
    [
      'include tables read in FROM, USING and a subquery',
      'DELETE FROM a USING b WHERE c IN (SELECT 1 FROM d)',
      ['.a:write', '.b:read', '.d:read'],
    ],
    [
      'include a table that an expression of PL/pgSQL reads without a subquery',
      'DO $$ DECLARE x int; BEGIN x := pay FROM s.t WHERE id = 1; IF open From u THEN NULL; END IF; END $$',
      ['s.t:read', '.u:read'],
    ],
    [
      'include a table that the subscript of an assignment in PL/pgSQL reads',
      'DO $$ DECLARE x int[]; y t; BEGIN x[(SELECT a FROM s.t WHERE b = 1)] := 2; y.c[(SELECT 1 FROM u)].d = 3; END $$',
      ['s.t:read', '.u:read'],
    ],
    [
      'include a table that the default of a record, or of a type of the database, reads',
      'DO $$ DECLARE r CONSTANT record NOT NULL := ROW((SELECT 1 FROM a)); m mood DEFAULT (SELECT 1 FROM b); BEGIN DECLARE s x.cursor = (SELECT 1 FROM s.c); t mood =-(SELECT 1 FROM d); BEGIN NULL; END; END $$',
      ['.a:read', '.b:read', 's.c:read', '.d:read'],
    ],
    [
      'include a table that a cursor or the default of a number reads once',
      'DO $$ DECLARE c NO SCROLL CURSOR FOR SELECT 1 FROM a WHERE b = 1; n int := (SELECT 1 FROM d); BEGIN NULL; END $$',
      ['.a:read', '.d:read'],
    ],
    [
      'include the table of a row policy, and those that its condition reads',
      'CREATE POLICY p ON a USING (b IN (SELECT 1 FROM c)); ALTER POLICY p ON d USING (b IN (SELECT 1 FROM e))',
      ['.a:ddl', '.c:read', '.d:ddl', '.e:read'],
    ],
    [
      'include the table that owns a sequence',
      'CREATE SEQUENCE a OWNED BY s.t.id; ALTER SEQUENCE b OWNED BY u.id; ALTER SEQUENCE c OWNED BY NONE',
      ['.a:ddl', '.b:ddl', '.c:ddl', 's.t:ddl', '.u:ddl'],
    ],
    [
      'include the new name of a table',
      'ALTER TABLE a SET SCHEMA s; ALTER TABLE s.b RENAME TO c; ALTER TABLE d RENAME e TO f',
      ['.a:ddl', 's.a:ddl', 's.b:ddl', 's.c:ddl', '.d:ddl'],
    ],
    [
      'include a table of SQL in a string even if a CTE around the call has its name',
      "WITH t AS (SELECT 1) SELECT query_to_xml('SELECT * FROM t', true, true, '') FROM t",
      ['.t:read'],
    ],
    ['omit the alias after FOR UPDATE OF', 'SELECT 1 FROM t AS x FOR UPDATE OF x', ['.t:read']],
    ['include the table of a foreign key', 'CREATE TABLE a (b int REFERENCES s.c)', ['.a:ddl', 's.c:read']],
    [
      'use * for all tables of a schema',
      'GRANT SELECT ON ALL TABLES IN SCHEMA s TO r; REINDEX SCHEMA t; CREATE PUBLICATION p FOR TABLES IN SCHEMA u, TABLE v',
      ['s.*:ddl', 't.*:ddl', 'u.*:ddl', '.v:read'],
    ],
  ])('%s', async (_what, text, wanted) => {
    expect([...(await relationsOf(text))].sort()).toEqual([...wanted].sort());
  });
});
