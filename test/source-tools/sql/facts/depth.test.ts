import { factsOf } from '../rules/support/run-rule';

describe('a DELETE is found at any depth', () => {
  it.each([
    ['at the top', 'DELETE FROM t', 'statement 1'],
    ['in the second statement', 'SELECT 1; DELETE FROM t', 'statement 2'],
    ['in a CTE', 'WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x', 'statement 1 › CTE "x"'],
    [
      'in a CTE of a CTE',
      'WITH x AS (WITH y AS (DELETE FROM t RETURNING 1) SELECT * FROM y) SELECT * FROM x',
      'statement 1 › CTE "x" › CTE "y"',
    ],
    [
      'in a CTE of an INSERT',
      'WITH x AS (DELETE FROM t RETURNING *) INSERT INTO u SELECT * FROM x',
      'statement 1 › CTE "x"',
    ],
    ['in EXPLAIN ANALYZE', 'EXPLAIN (COSTS off, ANALYZE) DELETE FROM t', 'statement 1 › EXPLAIN ANALYZE'],
    ['in PREPARE', 'PREPARE p AS DELETE FROM t', 'statement 1 › PREPARE "p"'],
    ['in COPY', 'COPY (DELETE FROM t RETURNING 1) TO STDOUT', 'statement 1 › COPY query'],
    [
      'in CREATE TABLE AS',
      'CREATE TABLE u AS WITH x AS (DELETE FROM t RETURNING 1) SELECT * FROM x',
      'statement 1 › CREATE TABLE AS › CTE "x"',
    ],
    ['in a rule', 'CREATE RULE r AS ON INSERT TO u DO ALSO (SELECT 1; DELETE FROM t)', 'statement 1 › rule "r"'],
    ['in a DO block', 'DO $$ BEGIN DELETE FROM t; END $$', 'statement 1 › DO body'],
    ['in an escaped DO block', "DO E'BEGIN D\\x45LETE FROM t; END'", 'statement 1 › DO body'],
    ['in a DO block with Unicode escapes', "DO U&'BEGIN !0044ELETE FROM t; END' UESCAPE '!'", 'statement 1 › DO body'],
    [
      'in an SQL function',
      "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'SELECT 1; DELETE FROM t'",
      'statement 1 › function "f" body',
    ],
    [
      'in a function with the language first and in upper case',
      'CREATE FUNCTION f() RETURNS void LANGUAGE SQL AS $_$ DELETE FROM t $_$',
      'statement 1 › function "f" body',
    ],
    [
      'in an SQL-standard body',
      'CREATE FUNCTION f() RETURNS void BEGIN ATOMIC SELECT 1; DELETE FROM t; END',
      'statement 1 › function "f" body',
    ],
    [
      'in a PL/pgSQL function',
      'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM t; RETURN NEW; END $$',
      'statement 1 › function "f" body',
    ],
    [
      'in a procedure',
      'CREATE PROCEDURE f() LANGUAGE plpgsql AS $$ BEGIN DELETE FROM t; END $$',
      'statement 1 › procedure "f" body',
    ],
    [
      'in constant EXECUTE',
      "DO $$ BEGIN EXECUTE 'DEL' || E'ETE FROM\\x20t'; END $$",
      'statement 1 › DO body › dynamic SQL',
    ],
    [
      'in constant EXECUTE by concat()',
      "DO $$ BEGIN EXECUTE concat('DELETE', ' FROM t'); END $$",
      'statement 1 › DO body › dynamic SQL',
    ],
    [
      'in DO in EXECUTE in DO',
      'DO $a$ BEGIN EXECUTE $b$ DO $c$ BEGIN DELETE FROM t; END $c$ $b$; END $a$',
      'statement 1 › DO body › dynamic SQL › DO body',
    ],
    [
      'in query_to_xml',
      "SELECT query_to_xml('WITH x AS (DELETE FROM t RETURNING 1) TABLE x', true, true, '')",
      'statement 1 › dynamic SQL › CTE "x"',
    ],
  ])('%s', async (_where, text, path) => {
    const { dml } = await factsOf(text);
    expect(dml.filter((d) => d.kind === 'delete')).toMatchObject([
      { table: { schema: null, name: 't' }, where: 'absent', path },
    ]);
  });

  const branches = [
    'IF a() THEN DELETE FROM t; END IF',
    'IF false THEN NULL; ELSIF true THEN DELETE FROM t; END IF',
    'IF false THEN NULL; ELSE DELETE FROM t; END IF',
    'CASE x WHEN 1 THEN DELETE FROM t; ELSE NULL; END CASE',
    'CASE WHEN false THEN NULL; ELSE DELETE FROM t; END CASE',
    'LOOP DELETE FROM t; EXIT; END LOOP',
    'WHILE true LOOP DELETE FROM t; END LOOP',
    'FOR i IN 1..2 LOOP DELETE FROM t; END LOOP',
    'FOR r IN SELECT 1 LOOP DELETE FROM t; END LOOP',
    'FOR r IN WITH d AS (DELETE FROM t RETURNING 1) SELECT * FROM d LOOP NULL; END LOOP',
    "FOR r IN EXECUTE 'DELETE FROM t RETURNING 1' LOOP NULL; END LOOP",
    'FOREACH x IN ARRAY ARRAY[1] LOOP DELETE FROM t; END LOOP',
    'BEGIN NULL; EXCEPTION WHEN OTHERS THEN DELETE FROM t; END',
    'x := (WITH d AS (DELETE FROM t RETURNING 1) SELECT count(*) FROM d)',
    'PERFORM 1 FROM (WITH d AS (DELETE FROM t RETURNING 1) SELECT * FROM d) q',
    'OPEN c FOR WITH d AS (DELETE FROM t RETURNING 1) SELECT * FROM d',
    "OPEN c FOR EXECUTE 'DELETE FROM t RETURNING 1'",
    'DELETE FROM t RETURNING 1 INTO x',
    'RAISE NOTICE $q$%$q$, (WITH d AS (DELETE FROM t RETURNING 1) SELECT count(*) FROM d)',
    'ASSERT (WITH d AS (DELETE FROM t RETURNING 1) SELECT count(*) FROM d) > 0',
  ];
  it.each(branches)('in PL/pgSQL: %s', async (statement) => {
    const { dml } = await factsOf(`DO $$ DECLARE x int; r record; c refcursor; BEGIN ${statement}; END $$`);
    expect(dml.filter((d) => d.kind === 'delete')).toMatchObject([{ table: { name: 't' }, where: 'absent' }]);
  });

  it('in the default of a PL/pgSQL variable and in a bound cursor', async () => {
    const { functionCalls, dml } = await factsOf(
      'DO $$ DECLARE x int := f(1); c CURSOR FOR WITH d AS (DELETE FROM t RETURNING 1) SELECT * FROM d; BEGIN NULL; END $$',
    );
    expect(functionCalls.map((c) => c.function.name)).toEqual(['f']);
    expect(dml).toHaveLength(1);
  });
});

describe('a statement that is planned but not executed', () => {
  it('changes nothing: the tables of EXPLAIN without ANALYZE are only read', async () => {
    const facts = await factsOf('EXPLAIN DELETE FROM t');
    expect(facts.dml).toEqual([]);
    expect(facts.relations).toMatchObject([{ relation: { name: 't' }, access: 'read' }]);
    expect(facts.statements[0]?.readOnly).toBe(true);
  });

  it.each([
    'EXPLAIN (ANALYZE false) DELETE FROM t',
    'EXPLAIN (ANALYZE off, VERBOSE) DELETE FROM t',
    'EXPLAIN (ANALYZE 0) DELETE FROM t',
  ])('%s', async (text) => {
    expect((await factsOf(text)).dml).toEqual([]);
  });

  it.each([
    'EXPLAIN (ANALYZE true) DELETE FROM t',
    'EXPLAIN (ANALYZE 1) DELETE FROM t',
    'EXPLAIN ANALYZE VERBOSE DELETE FROM t',
    'EXPLAIN (ANALYZE off, ANALYZE on) DELETE FROM t',
  ])('but is executed by: %s', async (text) => {
    expect((await factsOf(text)).dml).toHaveLength(1);
  });
});

describe('SQL that cannot be read is recorded', () => {
  it.each([
    ['an invalid PL/pgSQL body', 'DO $$ BEGIN DELETE FRM t; END $$', 'unread_body'],
    ['a body in another language', "DO LANGUAGE plperl 'return 1'", 'unread_body'],
    ['an invalid SQL body', "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELEC 1'", 'unread_body'],
    ['EXECUTE of a variable', 'DO $$ DECLARE q text; BEGIN EXECUTE q; END $$', 'plpgsql_execute'],
    ['EXECUTE of format()', "DO $$ BEGIN EXECUTE format('DROP TABLE %I', 'x'); END $$", 'plpgsql_execute'],
    ['a statement that was not prepared in the text', 'EXECUTE p(1)', 'execute_prepared'],
    ['query_to_xml of a column', "SELECT query_to_xml(q, true, true, '') FROM t", 'sql_text_function'],
  ])('%s', async (_what, text, form) => {
    expect((await factsOf(text)).dynamicSql).toMatchObject([{ form, constant: false }]);
  });

  it('but not EXECUTE of a statement prepared in the same text', async () => {
    const { dynamicSql, dml } = await factsOf('PREPARE p AS DELETE FROM t; EXECUTE p');
    expect(dynamicSql).toMatchObject([{ form: 'execute_prepared', constant: true }]);
    expect(dml).toHaveLength(1);
  });
});
