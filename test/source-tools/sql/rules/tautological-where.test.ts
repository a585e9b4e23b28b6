import { fires } from './support/run-rule';

describe('a condition that selects all rows', () => {
  it.each([
    'DELETE FROM a WHERE id = a.id',
    'DELETE FROM a x WHERE x.id >= id',
    'DELETE FROM a WHERE id > 0 OR id <= 0',
    'DELETE FROM a WHERE n = 1 OR n <> 1',
    'DELETE FROM a WHERE id = ANY (ARRAY(SELECT id FROM a))',
    'DELETE FROM a WHERE (id, n) IN (SELECT id, n FROM a)',
    'DELETE FROM a WHERE id IN (TABLE a)',
    'DELETE FROM a WHERE (id, n) IN (SELECT * FROM a)',
    'DELETE FROM a WHERE id IN (SELECT a.id)',
    'DELETE FROM a WHERE id IN (SELECT 1 UNION SELECT id FROM a)',
    'DELETE FROM a WHERE EXISTS (SELECT 1 FROM b UNION ALL SELECT 1)',
    "DELETE FROM a WHERE length('x') = 1",
    "UPDATE a SET n = 1 WHERE current_date > '2000-01-01'",
    'UPDATE a SET n = 1 WHERE now() IS NOT NULL',
    "DELETE FROM a WHERE id = 5 OR 'b' LIKE 'b%'",
    'DELETE FROM a WHERE (SELECT true)',
    'DELETE FROM a WHERE n > 1 OR NOT n > 1',
    "DELETE FROM a WHERE 'b' < 'c'",
    'DELETE FROM a WHERE id IN (SELECT id FROM a LIMIT ALL)',
    'DELETE FROM a WHERE id IN (SELECT id FROM a ORDER BY id LIMIT 1000000000)',
    'DELETE FROM a USING a AS b WHERE a.id = b.id',
    'UPDATE s.a AS x SET n = 1 FROM s.a AS y WHERE x.ctid = y.ctid',
  ])('is detected in another form: %s', async (sql) => {
    expect(await fires('sql_tautological_where', sql)).toBe(true);
  });

  it.each([
    'DELETE FROM a USING b WHERE a.id = b.id',
    'DELETE FROM a USING archive.a AS b WHERE a.id = b.id',
    'WITH b AS (SELECT 7 AS id) DELETE FROM b AS x USING b AS y WHERE x.id = y.id',
    'UPDATE a SET n = c.n FROM a AS b JOIN c ON c.id = b.c WHERE a.id = b.id',
    'DELETE FROM a WHERE id IN (SELECT id FROM a LIMIT $1)',
    'DELETE FROM a USING a AS b WHERE a.id > b.id AND a.email = b.email',
    'DELETE FROM a WHERE id > 0 OR n <= 0',
    'DELETE FROM a WHERE id > 0 OR id <= -5',
    'DELETE FROM a WHERE id = ANY (ARRAY(SELECT id FROM a WHERE n = 1))',
    'DELETE FROM a WHERE (id, n) IN (SELECT n, id FROM a)',
    'DELETE FROM a WHERE id IN (SELECT id FROM a EXCEPT SELECT id FROM b)',
    'DELETE FROM a WHERE id IN (SELECT id FROM b UNION SELECT id FROM c)',
    'DELETE FROM a WHERE id IN (TABLE b)',
    'DELETE FROM a USING b WHERE a.id IN (SELECT b.id)',
    'DELETE FROM a WHERE id IN (SELECT b.id FROM b)',
    "DELETE FROM a WHERE made < now() - interval '1 year'",
    'DELETE FROM a WHERE id = $1',
    'UPDATE a SET sampled = true WHERE random() < 0.01',
    "UPDATE a SET n = 1 WHERE id = 5 AND current_date > '2000-01-01'",
    'DELETE FROM a WHERE NOT true',
    "DELETE FROM a WHERE EXISTS (SELECT 1 FROM flags WHERE name = 'purge')",
  ])('is not %s', async (sql) => {
    expect(await fires('sql_tautological_where', sql)).toBe(false);
  });
});

describe('a value of a variable in PL/pgSQL', () => {
  const body = (
    sql: string,
  ): string => `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN
    FOR r IN SELECT * FROM b LOOP ${sql}; END LOOP; RETURN NEW; END $$`;

  it.each([
    'DELETE FROM a WHERE id = OLD.id',
    'UPDATE a SET n = 1 WHERE id = NEW.id',
    'DELETE FROM a WHERE id = r.id',
    'DELETE FROM a WHERE r.id = id AND n = NEW.n',
  ])('is not the column: %s', async (sql) => {
    expect(await fires('sql_tautological_where', body(sql))).toBe(false);
  });

  it.each([
    'DELETE FROM a WHERE id = a.id',
    'DELETE FROM a WHERE OLD.id = OLD.id',
    'UPDATE a AS x SET n = 1 WHERE x.id = id',
  ])('is compared with itself, or not used: %s', async (sql) => {
    expect(await fires('sql_tautological_where', body(sql))).toBe(true);
  });
});
