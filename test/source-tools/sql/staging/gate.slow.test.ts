import { DEFAULT_FUNCTIONS, SAFE_FUNCTIONS } from '../../../../source-tools/sql/facts/safe-functions';
import { sqlCasEffects, sqlDryRunEffects } from '../../../../source-tools/sql/staging';
import { useTarget } from './target-server';
import { stageContext } from './sql-context';
import { diffOf, recordOf } from '../../../support/staged-change';

const pg = useTarget(
  `
    CREATE TABLE items (id int PRIMARY KEY, name text, n int, at timestamptz);
    INSERT INTO items SELECT g, 'i' || g, 0, '2026-01-01' FROM generate_series(1, 300) g;
    CREATE TABLE children (id int PRIMARY KEY, item int REFERENCES items ON DELETE CASCADE);
    INSERT INTO children SELECT g, 1 FROM generate_series(1, 300) g;
    CREATE TABLE tickets (id bigserial PRIMARY KEY, title text);
    CREATE TABLE log (id bigserial PRIMARY KEY, what text);
    ANALYZE;
  `,
  { alone: true },
);

const stage = (sql: string, settings = {}) => sqlDryRunEffects.stage(stageContext(pg.stageUrl, sql, { settings }));
/** Why the statement was not rehearsed; empty if it was. */
async function refusals(sql: string, settings = {}): Promise<string> {
  const record = recordOf(await stage(sql, settings));
  return record.reason === null ? '' : record.uncaptured.join('\n');
}
/** Runs with additional objects, which are dropped afterwards. */
async function having(objects: string, work: () => Promise<void>): Promise<void> {
  await pg.admin(objects);
  await pg.grant();
  try {
    await work();
  } finally {
    await pg.admin(DROP);
  }
}
const DROP = `DO $$ DECLARE o record; BEGIN
  FOR o IN SELECT oid::regprocedure::text AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace LOOP EXECUTE 'DROP FUNCTION IF EXISTS ' || o.name || ' CASCADE'; END LOOP;
  FOR o IN SELECT c.oid::regclass::text AS name, relkind FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relname LIKE 'x\\_%' AND relkind IN ('r', 'p', 'v')
    LOOP EXECUTE format('DROP %s IF EXISTS %s CASCADE', CASE o.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, o.name); END LOOP;
  FOR o IN SELECT oid::regtype::text AS name FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typname LIKE 'x\\_%' AND typtype IN ('d', 'e') LOOP EXECUTE 'DROP TYPE IF EXISTS ' || o.name || ' CASCADE'; END LOOP;
  ALTER TABLE items DISABLE ROW LEVEL SECURITY;
END $$; DROP POLICY IF EXISTS mine ON items; DROP FOREIGN DATA WRAPPER IF EXISTS x_w CASCADE`;

const BAD = `has_schema_privilege('countersign', 'usage')`;
const fn = (name: string, args: string, returns: string, body: string, more = ''): string =>
  `CREATE FUNCTION ${name}(${args}) RETURNS ${returns} LANGUAGE plpgsql ${more} AS $f$ BEGIN ${body} END $f$;`;
const FOREIGN = `CREATE FOREIGN DATA WRAPPER x_w; CREATE SERVER x_s FOREIGN DATA WRAPPER x_w;
  CREATE TABLE x_t (id int) PARTITION BY RANGE (id); CREATE FOREIGN TABLE x_u PARTITION OF x_t DEFAULT SERVER x_s`;

describe('the list of functions', () => {
  it('contains only functions of PostgreSQL, of which only clocks are volatile', async () => {
    const rows = await pg.admin(
      `SELECT proname::text AS name, bool_or(provolatile = 'v') AS volatile FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY($1) GROUP BY 1`,
      [[...SAFE_FUNCTIONS]],
    );
    const unknown = [...SAFE_FUNCTIONS].filter((name) => !rows.some((row) => row['name'] === name));
    expect(unknown).toEqual([]);
    expect(rows.filter((row) => row['volatile']).map((row) => row['name'])).toEqual(
      expect.arrayContaining(['clock_timestamp', 'timeofday']),
    );
    expect(rows.filter((row) => row['volatile'])).toHaveLength(2);
    expect([...DEFAULT_FUNCTIONS].filter((name) => SAFE_FUNCTIONS.has(name))).toEqual([]);
  });
});

describe('the check before a rehearsal', () => {
  it.each([
    `UPDATE items SET name = upper(trim(name)) || to_char(at, 'YYYY'), n = coalesce(n, 0) + 1 WHERE id BETWEEN 1 AND 5`,
    `INSERT INTO tickets (title) SELECT name FROM items WHERE id IN (1, 2) ON CONFLICT DO NOTHING`,
    `UPDATE items i SET n = c.k FROM (SELECT item, count(*) AS k FROM children GROUP BY item) c WHERE c.item = i.id`,
    `DELETE FROM children USING items WHERE items.id = children.item AND items.n < 0 RETURNING children.id`,
    `MERGE INTO items USING (VALUES (1, 'a'), (999, 'b')) v(id, name) ON items.id = v.id WHEN MATCHED THEN UPDATE SET name = v.name WHEN NOT MATCHED THEN INSERT (id, name) VALUES (v.id, v.name)`,
    `WITH x AS (SELECT 1 AS id) UPDATE items SET n = 1 FROM x WHERE items.id = x.id AND items.n IS DISTINCT FROM 5`,
    `INSERT INTO items (id) VALUES (1000), (1001)`,
    `INSERT INTO tickets (title) VALUES (gen_random_uuid()), (pg_catalog.gen_random_uuid()::text)`,
    `UPDATE items SET at = clock_timestamp(), name = lpad(id::text, 8, '0') || format('%s-%s', id, n) WHERE id = 1`,
    `INSERT INTO items (id, at) SELECT 1000 + id, clock_timestamp() FROM items WHERE id < 5`,
    `INSERT INTO items (id) SELECT g FROM generate_series(2000, 2010) AS g`,
    `SELECT count(*) FILTER (WHERE n > 0), jsonb_agg(name ORDER BY id) FROM items GROUP BY GROUPING SETS ((n), ())`,
  ])('passes %s', async (sql) => {
    expect(await refusals(sql)).toBe('');
  });

  it.each([
    ['pg_sleep', `UPDATE items SET n = 1 WHERE id = 1 AND pg_sleep(0) IS NULL`],
    ['pg_sleep()', `SELECT pg_catalog.pg_sleep(0)`],
    ['nextval', `INSERT INTO items (id) VALUES (nextval('tickets_id_seq'))`],
    ['setval', `SELECT setval('tickets_id_seq', 5)`],
    ['random', `UPDATE items SET n = random() * 5 WHERE id = 1`],
    ['gen_random_uuid', `UPDATE items SET name = gen_random_uuid() WHERE id = 1`],
    ['gen_random_uuid', `INSERT INTO items (id, n) SELECT 1000, 1 WHERE gen_random_uuid() IS NOT NULL`],
    ['gen_random_uuid', `INSERT INTO tickets (title) SELECT gen_random_uuid() ORDER BY 1`],
    ['current_setting', `UPDATE items SET name = current_setting('application_name') WHERE id = 1`],
    ['CURRENT_USER', `UPDATE items SET name = CURRENT_USER WHERE id = 1`],
    ['pg_advisory_xact_lock', `SELECT pg_advisory_xact_lock(1)`],
    ['pg_notify', `SELECT pg_notify('a', 'b')`],
    ['pg_terminate_backend', `SELECT pg_terminate_backend(1)`],
    ['pg_read_file', `SELECT pg_read_file('x')`],
    ['lo_import', `SELECT lo_import('/etc/hosts')`],
    ['query_to_xml', `SELECT query_to_xml('select 1', true, true, '')`],
    ['pg_stat_activity', `UPDATE items SET n = (SELECT count(*) FROM pg_stat_activity) WHERE id = 1`],
    ['pg_locks', `SELECT * FROM pg_catalog.pg_locks`],
    ['tables', `SELECT * FROM information_schema.tables`],
    ['FOR UPDATE', `SELECT 1 FROM items WHERE id = 1 FOR UPDATE`],
    ['FOR UPDATE', `UPDATE items SET n = 1 WHERE id IN (SELECT id FROM items LIMIT 1 FOR UPDATE)`],
    ['FOR UPDATE', `SELECT 1 FROM items LIMIT 1 FOR SHARE NOWAIT`],
    ['row locks need a LIMIT', `UPDATE items SET n = 1 WHERE id IN (SELECT id FROM items FOR UPDATE SKIP LOCKED)`],
    ['row locks need a LIMIT', `SELECT 1 FROM items LIMIT 5000 FOR UPDATE SKIP LOCKED`],
    ['row locks need a LIMIT', `SELECT 1 FROM items LIMIT (SELECT 5) FOR UPDATE SKIP LOCKED`],
    ['row locks need a LIMIT', `SELECT 1 FROM items LIMIT 5 OFFSET 90000 FOR UPDATE SKIP LOCKED`],
    [
      'once for each row',
      `SELECT 1 FROM items b CROSS JOIN LATERAL (SELECT id FROM items o WHERE o.id >= b.id LIMIT 1 FOR UPDATE SKIP LOCKED) y`,
    ],
    [
      'once for each row',
      `SELECT (SELECT o.id FROM items o WHERE o.id = b.id LIMIT 1 FOR UPDATE SKIP LOCKED) FROM items b`,
    ],
    ['TABLESAMPLE', `SELECT * FROM items TABLESAMPLE SYSTEM (50)`],
    ['SELECT INTO', `SELECT 1 INTO x`],
    ['generate_series() returns a number of rows', `INSERT INTO items (id) SELECT generate_series(1, (SELECT 5))`],
    ['string_to_table() returns a number of rows', `SELECT string_to_table(repeat('x,', 1000), ',')`],
    ['SET … = DEFAULT', `UPDATE tickets SET id = DEFAULT WHERE id = 1`],
    ['SET … = DEFAULT', `UPDATE tickets SET (id, title) = (DEFAULT, 'x') WHERE id = 1`],
    ['SET … = DEFAULT', `UPDATE tickets SET (id, title) = ROW(DEFAULT, 'x') WHERE id = 1`],
    [
      'SET … = DEFAULT',
      `INSERT INTO tickets (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET (id, title) = (DEFAULT, 'x')`,
    ],
    ['clock_timestamp() moves', `UPDATE items SET n = 1 WHERE clock_timestamp() > now() + interval '1 second'`],
    ['clock_timestamp() moves', `INSERT INTO items (id, at) SELECT DISTINCT 5000, clock_timestamp()`],
    ['pg_sleep() may be called', `SELECT a.pg_sleep FROM unnest(ARRAY[4.0::float8]) a`],
    ['pg_sleep() may be called', `SELECT (4.0::float8).pg_sleep`],
    ['the length of repeat()', `SELECT repeat('x', 1000000000)`],
    ['the length of repeat()', `SELECT repeat('x', '1000000000')`],
    ['the length of rpad()', `UPDATE items SET name = rpad(name, '1000000000') WHERE id = 1`],
    ['the length of lpad()', `UPDATE items SET name = lpad(name, n) WHERE id = 1`],
    ['the pattern of format()', `SELECT format('%1000000000s', '')`],
    ['is a sequence', `SELECT last_value FROM tickets_id_seq`],
  ])('refuses %s', async (reason, sql) => {
    expect(await refusals(sql)).toContain(reason);
  });

  it.each([
    [
      'a trigger',
      fn('bad', '', 'trigger', `IF ${BAD} THEN NEW.n := 1; END IF; RETURN NEW;`) +
        'CREATE TRIGGER bad BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION bad()',
      'UPDATE items SET n = 1 WHERE id = 1',
    ],
    [
      'a trigger with dynamic SQL',
      fn('bad', '', 'trigger', `EXECUTE 'select 1'; RETURN NEW;`) +
        'CREATE TRIGGER bad BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION bad()',
      'UPDATE items SET n = 1 WHERE id = 1',
    ],
    [
      'the condition of a trigger',
      fn('fine', '', 'trigger', 'RETURN NEW;') +
        `CREATE TRIGGER bad BEFORE UPDATE ON items FOR EACH ROW WHEN (${BAD}) EXECUTE FUNCTION fine()`,
      'UPDATE items SET n = 1 WHERE id = 1',
    ],
    [
      'a trigger of a table that a trigger writes',
      fn('first', '', 'trigger', `INSERT INTO log (what) VALUES ('x'); RETURN NULL;`) +
        fn('second', '', 'trigger', `PERFORM pg_notify('a', 'b'); RETURN NULL;`) +
        'CREATE TRIGGER a AFTER UPDATE ON items FOR EACH ROW EXECUTE FUNCTION first(); CREATE TRIGGER b AFTER INSERT ON log FOR EACH ROW EXECUTE FUNCTION second()',
      'UPDATE items SET n = 1 WHERE id = 1',
    ],
    [
      'a default',
      `CREATE TABLE x_t (id int PRIMARY KEY, n int DEFAULT CASE WHEN ${BAD} THEN 1 ELSE 2 END)`,
      'INSERT INTO x_t (id) VALUES (1)',
    ],
    [
      'a random default',
      `CREATE TABLE x_t (id int PRIMARY KEY, n float DEFAULT random())`,
      'INSERT INTO x_t (id) VALUES (1)',
    ],
    [
      'a view',
      `CREATE VIEW x_v AS SELECT 1 AS n WHERE ${BAD}`,
      'UPDATE items SET n = (SELECT n FROM x_v) WHERE id = 1',
    ],
    [
      'a view of a view',
      `CREATE VIEW x_w AS SELECT 1 AS n WHERE ${BAD}; CREATE VIEW x_v AS SELECT * FROM x_w`,
      'SELECT * FROM x_v',
    ],
    ['a view that locks', `CREATE VIEW x_v AS SELECT * FROM items FOR UPDATE`, 'SELECT * FROM x_v'],
    ['a view of sessions', `CREATE VIEW x_v AS SELECT pid FROM pg_stat_activity`, 'SELECT * FROM x_v'],
    [
      'a generated column',
      fn('bad', 'int', 'int', `RETURN CASE WHEN ${BAD} THEN 1 ELSE 2 END;`, 'IMMUTABLE') +
        'CREATE TABLE x_t (id int PRIMARY KEY, n int GENERATED ALWAYS AS (bad(id)) STORED)',
      'INSERT INTO x_t VALUES (1)',
    ],
    [
      'a check constraint',
      fn('bad', 'int', 'boolean', `RETURN ${BAD};`) + 'CREATE TABLE x_t (id int PRIMARY KEY CHECK (bad(id)))',
      'INSERT INTO x_t VALUES (1)',
    ],
    [
      'an index expression',
      fn('bad', 'int', 'int', `PERFORM pg_sleep(0); RETURN 1;`, 'IMMUTABLE') +
        'CREATE TABLE x_t (id int PRIMARY KEY); CREATE INDEX ON x_t (bad(id))',
      'INSERT INTO x_t VALUES (1)',
    ],
    [
      'a domain of a column',
      fn('bad', 'text', 'boolean', `RETURN ${BAD};`) +
        'CREATE DOMAIN x_d AS text CHECK (bad(value)); CREATE TABLE x_t (id int PRIMARY KEY, n x_d)',
      'INSERT INTO x_t (id) VALUES (1)',
    ],
    [
      'a domain inside an array',
      fn('bad', 'text', 'boolean', `RETURN ${BAD};`) + 'CREATE DOMAIN x_d AS text CHECK (bad(value))',
      `SELECT '{a}'::x_d[]`,
    ],
    [
      'the subscript of an assignment in the body of a function',
      `CREATE FUNCTION go() RETURNS int LANGUAGE plpgsql AS $f$ DECLARE x int[]; BEGIN x[CASE WHEN ${BAD} THEN 1 ELSE 2 END] := 1; RETURN x[1]; END $f$`,
      'SELECT go()',
    ],
    [
      'the default of a record in the body of a function',
      `CREATE FUNCTION go() RETURNS int LANGUAGE plpgsql AS $f$ DECLARE r record := ROW(${BAD}); BEGIN RETURN 1; END $f$`,
      'SELECT go()',
    ],
    [
      'a domain in the body of a function',
      fn('bad', 'text', 'boolean', `RETURN ${BAD};`) +
        'CREATE DOMAIN x_d AS text CHECK (bad(value)); CREATE FUNCTION go() RETURNS int LANGUAGE plpgsql AS $f$ DECLARE d x_d; BEGIN d := 1; RETURN 1; END $f$',
      'SELECT go()',
    ],
    [
      'a domain of an argument',
      fn('bad', 'text', 'boolean', `RETURN ${BAD};`) +
        'CREATE DOMAIN x_d AS text CHECK (bad(value));' +
        `CREATE FUNCTION go(a x_d) RETURNS text LANGUAGE sql AS 'SELECT a::text'`,
      `SELECT go('a')`,
    ],
    [
      'a domain of a result',
      fn('bad', 'text', 'boolean', `RETURN ${BAD};`) +
        'CREATE DOMAIN x_d AS text CHECK (bad(value));' +
        fn('go', 'text', 'x_d', 'RETURN $1;'),
      `SELECT go('a')`,
    ],
    [
      'a domain in a default',
      fn('bad', 'text', 'boolean', `RETURN ${BAD};`) +
        'CREATE DOMAIN x_d AS text CHECK (bad(value));' +
        `CREATE TABLE x_t (id int PRIMARY KEY, n text DEFAULT ('a' || 'b')::x_d)`,
      'INSERT INTO x_t (id) VALUES (1)',
    ],
    [
      'a domain of a variable that is declared by a column',
      fn('bad', 'text', 'boolean', `RETURN ${BAD};`) +
        'CREATE DOMAIN x_d AS text CHECK (bad(value));' +
        'CREATE TABLE x_t (n x_d); CREATE FUNCTION go() RETURNS int LANGUAGE plpgsql AS $f$ DECLARE d x_t.n%TYPE; BEGIN d := 1; RETURN 1; END $f$',
      'SELECT go()',
    ],
    [
      'a row security policy',
      `ALTER TABLE items ENABLE ROW LEVEL SECURITY; CREATE POLICY mine ON items USING (current_user = name OR true)`,
      'UPDATE items SET n = 1 WHERE id = 1',
    ],
    ['a function', fn('bad', '', 'int', `PERFORM pg_sleep(0); RETURN 1;`), 'UPDATE items SET n = bad() WHERE id = 1'],
    [
      'a function that changes rows',
      fn('bad', '', 'int', `INSERT INTO log (what) VALUES ('x'); RETURN 1;`),
      'UPDATE items SET n = bad() WHERE id = 1',
    ],
    ['a loop', fn('bad', '', 'int', `LOOP NULL; END LOOP;`), 'SELECT bad()'],
    [
      'a function in SQL',
      `CREATE FUNCTION bad() RETURNS boolean LANGUAGE sql AS $f$ SELECT ${BAD} $f$`,
      'SELECT bad()',
    ],
    [
      'a function with a parsed body',
      `CREATE FUNCTION bad() RETURNS boolean LANGUAGE sql BEGIN ATOMIC SELECT ${BAD}; END`,
      'SELECT bad()',
    ],
    ['a function that changes settings', fn('bad', '', 'int', 'RETURN 1;', 'SET work_mem = 65536'), 'SELECT bad()'],
    [
      'a name that hides a built-in function',
      fn('lower', 'varchar', 'text', `RETURN 'x';`),
      `UPDATE items SET name = lower(name::varchar) WHERE id = 1`,
    ],
    [
      'an operator',
      fn('plus', 'int, text', 'int', `RETURN 1;`) +
        'CREATE OPERATOR public.+ (leftarg = int, rightarg = text, function = plus)',
      'UPDATE items SET n = n + name WHERE id = 1',
    ],
    [
      'a cast',
      fn('bad', 'boolean', 'numeric', `PERFORM pg_sleep(0); RETURN 1;`) +
        'CREATE CAST (boolean AS numeric) WITH FUNCTION bad(boolean) AS ASSIGNMENT',
      'SELECT 1',
    ],
    [
      'an operator in the body of a function',
      fn('plus', 'int, text', 'int', `RETURN 1;`) +
        `CREATE SCHEMA IF NOT EXISTS aside; CREATE OPERATOR aside.+ (leftarg = int, rightarg = text, function = plus);
         CREATE FUNCTION go() RETURNS int LANGUAGE plpgsql AS $f$ BEGIN RETURN 1 + 'x'::text; END $f$`,
      'SELECT go()',
    ],
    [
      'a default of a column that a trigger inserts',
      fn('bad', '', 'int', `PERFORM pg_sleep(0); RETURN 1;`) +
        'CREATE TABLE x_t (id int DEFAULT bad(), n int);' +
        fn('first', '', 'trigger', `INSERT INTO x_t (n) VALUES (1); RETURN NULL;`) +
        'CREATE TRIGGER a AFTER UPDATE ON items FOR EACH ROW EXECUTE FUNCTION first()',
      'UPDATE items SET n = 1 WHERE id = 1',
    ],
    [
      'a partition key',
      fn('bad', 'int', 'int', `PERFORM pg_sleep(0); RETURN 1;`, 'IMMUTABLE') +
        'CREATE TABLE x_t (id int) PARTITION BY RANGE (bad(id)); CREATE TABLE x_u PARTITION OF x_t DEFAULT',
      'INSERT INTO x_t VALUES (1)',
    ],
    [
      'a trigger of a table to which a foreign key cascades a new key',
      'CREATE TABLE x_t (id int PRIMARY KEY REFERENCES items ON UPDATE CASCADE);' +
        fn('second', '', 'trigger', `PERFORM pg_notify('a', 'b'); RETURN NULL;`) +
        'CREATE TRIGGER b AFTER UPDATE ON x_t FOR EACH ROW EXECUTE FUNCTION second()',
      'UPDATE items SET id = 900 WHERE id = 299',
    ],
    [
      'a trigger of a table to which a foreign key cascades a delete',
      'CREATE TABLE x_t (id int PRIMARY KEY REFERENCES items ON DELETE CASCADE);' +
        fn('second', '', 'trigger', `PERFORM pg_notify('a', 'b'); RETURN NULL;`) +
        'CREATE TRIGGER b AFTER DELETE ON x_t FOR EACH ROW EXECUTE FUNCTION second()',
      'DELETE FROM items WHERE id = 299',
    ],
    [
      'a default to which a foreign key sets a column',
      fn('bad', '', 'int', `PERFORM pg_sleep(0); RETURN 1;`) +
        'CREATE TABLE x_t (id int DEFAULT bad() REFERENCES items ON DELETE SET DEFAULT)',
      'DELETE FROM items WHERE id = 299',
    ],
    [
      'a default to which a foreign key sets a column because of a new key',
      fn('bad', '', 'int', `PERFORM pg_sleep(0); RETURN 1;`) +
        'CREATE TABLE x_t (id int DEFAULT bad() REFERENCES items ON UPDATE SET DEFAULT)',
      'UPDATE items SET id = 900 WHERE id = 299',
    ],
    [
      'a trigger of a table whose rows a foreign key deletes when a row leaves its partition',
      `CREATE TABLE x_t (id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE x_u PARTITION OF x_t FOR VALUES FROM (0) TO (10);
       CREATE TABLE x_v (id int REFERENCES x_u ON DELETE CASCADE);` +
        fn('second', '', 'trigger', `PERFORM pg_notify('a', 'b'); RETURN OLD;`) +
        'CREATE TRIGGER b BEFORE DELETE ON x_v FOR EACH ROW EXECUTE FUNCTION second()',
      'UPDATE x_t SET id = 10 WHERE id = 1',
    ],
    [
      'a default of a domain',
      fn('bad', '', 'int', `PERFORM pg_sleep(0); RETURN 1;`) +
        'CREATE DOMAIN x_c AS int DEFAULT bad(); CREATE DOMAIN x_d AS x_c; CREATE TABLE x_t (id int PRIMARY KEY, n x_d)',
      'INSERT INTO x_t (id) VALUES (1)',
    ],
    [
      'a partition key above the partition that is written',
      fn('bad', 'int', 'int', `PERFORM pg_sleep(0); RETURN 1;`, 'IMMUTABLE') +
        `CREATE TABLE x_t (id int) PARTITION BY RANGE (bad(id)); CREATE TABLE x_u PARTITION OF x_t DEFAULT PARTITION BY RANGE (id);
         CREATE TABLE x_v PARTITION OF x_u DEFAULT`,
      'INSERT INTO x_v VALUES (1)',
    ],
    [
      'a default of an argument',
      fn('bad', '', 'int', `PERFORM pg_sleep(0); RETURN 1;`) +
        `CREATE FUNCTION go(a int, b int DEFAULT bad()) RETURNS int LANGUAGE sql AS 'SELECT a + b'`,
      'SELECT go(1)',
    ],
    [
      'a function that the check of a domain calls through another one',
      fn('bad', 'text', 'boolean', `RETURN ${BAD};`) +
        fn('go', 'text', 'boolean', `RETURN bad($1);`) +
        'CREATE DOMAIN x_d AS text CHECK (go(value)); CREATE TABLE x_t (id int PRIMARY KEY, n x_d)',
      'INSERT INTO x_t (id) VALUES (1)',
    ],
    [
      'a function by a name after a dot',
      fn('bad', 'items', 'int', `PERFORM pg_sleep(0); RETURN 1;`),
      'UPDATE items SET n = items.bad WHERE id = 1',
    ],
    [
      'a rewrite rule',
      `CREATE TABLE x_t (id int PRIMARY KEY); CREATE RULE r AS ON INSERT TO x_t DO ALSO DELETE FROM items`,
      'INSERT INTO x_t VALUES (1)',
    ],
    [
      'a foreign table that inherits from a table',
      `${FOREIGN}; CREATE TABLE x_p (id int); CREATE FOREIGN TABLE x_c () INHERITS (x_p) SERVER x_s`,
      'DELETE FROM x_p',
    ],
    [
      'a foreign table below a table of a function',
      `${FOREIGN}; CREATE FUNCTION x_f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM x_t; END`,
      'SELECT x_f()',
    ],
    [
      'a foreign table below a table of a policy',
      `${FOREIGN}; CREATE POLICY mine ON items USING (EXISTS (SELECT FROM x_t)); ALTER TABLE items ENABLE ROW LEVEL SECURITY`,
      'UPDATE items SET n = 1 WHERE id = 1',
    ],
    [
      'a foreign table below a table that a trigger changes',
      `${FOREIGN}; CREATE TABLE x_p (id int); ${fn('x_f', '', 'trigger', 'INSERT INTO x_t VALUES (1); RETURN NEW;')}
        CREATE TRIGGER t BEFORE INSERT ON x_p FOR EACH ROW EXECUTE FUNCTION x_f()`,
      'INSERT INTO x_p VALUES (1)',
    ],
    ['a foreign table below a table', FOREIGN, 'UPDATE items SET n = (SELECT count(*) FROM x_t) WHERE id = 1'],
    [
      'a foreign table below a table of a view',
      `${FOREIGN}; CREATE VIEW x_v AS SELECT * FROM x_t`,
      'SELECT * FROM x_v',
    ],
    ['a foreign table below a table that is written', FOREIGN, 'INSERT INTO x_t VALUES (1)'],
  ])('refuses %s that is not on the list', async (_, objects, sql) => {
    await having(objects, async () => {
      expect(await refusals(sql)).not.toBe('');
    });
  });

  it.each([
    [
      'an audit trigger',
      fn('note', '', 'trigger', `INSERT INTO log (what) VALUES (TG_OP || OLD.id); RETURN NULL;`, 'SECURITY DEFINER') +
        'CREATE TRIGGER note AFTER UPDATE ON items FOR EACH ROW EXECUTE FUNCTION note()',
      'UPDATE items SET n = 1 WHERE id = 1',
    ],
    [
      'a function in SQL',
      `CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2'`,
      'UPDATE items SET n = twice(id) WHERE id = 1',
    ],
    [
      'a domain',
      'CREATE DOMAIN x_d AS int CHECK (value > 0); CREATE TABLE x_t (id x_d PRIMARY KEY)',
      'INSERT INTO x_t VALUES (1)',
    ],
    [
      'a default to which a foreign key does not set a column',
      `CREATE TABLE x_t (id int REFERENCES items ON DELETE SET NULL, n float DEFAULT random())`,
      'DELETE FROM items WHERE id = 299',
    ],
    [
      'a function in another schema of the same name',
      `CREATE SCHEMA IF NOT EXISTS other; CREATE OR REPLACE FUNCTION other.lower(varchar) RETURNS text LANGUAGE sql AS 'SELECT $1'`,
      'UPDATE items SET name = lower(name::varchar) WHERE id = 1',
    ],
  ])('passes %s that only executes what is on the list', async (_, objects, sql) => {
    await having(objects, async () => {
      expect(await refusals(sql)).toBe('');
    });
  });

  it('accepts a clock that a trigger writes to a declared column', async () => {
    const objects =
      fn('touch', '', 'trigger', `NEW.at := now(); RETURN NEW;`) +
      'CREATE TRIGGER touch BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION touch()';
    await having(objects, async () => {
      const sql = 'UPDATE items SET n = 1 WHERE id = 1';
      expect(recordOf(await stage(sql, { volatileColumns: ['public.items.at'] }))).toMatchObject({
        fullyCaptured: true,
        notCompared: [{ column: 'at' }],
      });
      expect(recordOf(await stage(sql)).fullyCaptured).toBe(false);
    });
  });
});

describe('a value that differs because of a trigger', () => {
  const VALUE = 'md5(now()::text)';
  const ROW = `NEW.id, ${VALUE}, 'd'::text, NULL::text[]`;
  const notCompared = async (body: string): Promise<unknown> => {
    const objects =
      `CREATE TABLE x_t (id int PRIMARY KEY, at text, "B c" text DEFAULT 'd', list text[]);` +
      `CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $f$ ${body} $f$;` +
      'CREATE TRIGGER touch BEFORE INSERT ON x_t FOR EACH ROW EXECUTE FUNCTION touch()';
    let found: unknown;
    await having(objects, async () => {
      found = recordOf(await stage('INSERT INTO x_t (id) VALUES (1)')).notCompared;
    });
    return found;
  };

  it.each([
    [`BEGIN NEW.At := ${VALUE}; RETURN NEW; END`, 'at'],
    [`BEGIN NEW."B c" := ${VALUE}; RETURN NEW; END`, 'B c'],
    [`BEGIN "new".at = ${VALUE}; RETURN NEW; END`, 'at'],
    [`BEGIN NEW.list[1] := ${VALUE}; RETURN NEW; END`, 'list'],
    [`BEGIN SELECT ${VALUE} INTO NEW.at; RETURN NEW; END`, 'at'],
    [`DECLARE n int; BEGIN SELECT 1, ${VALUE} INTO n, NEW."B c"; RETURN NEW; END`, 'B c'],
    [`BEGIN SELECT ${ROW} INTO NEW; RETURN NEW; END`, 'at'],
    [`BEGIN NEW := ROW(${ROW}); RETURN NEW; END`, 'at'],
    [`DECLARE r x_t; BEGIN r := NEW; r.at := ${VALUE}; RETURN r; END`, 'at'],
    [`DECLARE new x_t; BEGIN new.id := 1; new.at := ${VALUE}; RETURN new; END`, 'at'],
    [`BEGIN RETURN ROW(${ROW}); END`, 'at'],
  ])('is not explained as the default of the column: %s', async (body, column) => {
    expect(await notCompared(body)).toEqual([
      { table: 'public.x_t', column, why: 'the value differs between two dry runs' },
    ]);
  });

  it.each(['RETURN NEW', 'RETURN coalesce(NEW, OLD)', 'NEW.at := now(); NEW.at := upper(NEW.at); RETURN NEW'])(
    'is explained by the default of another column: %s',
    async (body) => {
      await having(
        `CREATE TABLE x_t (id serial PRIMARY KEY, at text);
         ${fn('touch', '', 'trigger', `${body};`)} CREATE TRIGGER touch BEFORE INSERT ON x_t FOR EACH ROW EXECUTE FUNCTION touch()`,
        async () => {
          expect(
            recordOf(await stage('INSERT INTO x_t DEFAULT VALUES')).notCompared[body.includes('at') ? 1 : 0],
          ).toEqual({
            table: 'public.x_t',
            column: 'id',
            why: 'the default of the column gives each row another value',
          });
        },
      );
    },
  );
});

describe('the bound of rows', () => {
  const few = { maxRehearsedRows: 100 };

  it.each([
    ['an update', 'UPDATE items SET n = 1'],
    [
      'a size that the planner underestimates',
      `UPDATE items SET n = 1 WHERE id % 1 = 0 AND left(name, 0) = '' AND length(name) = char_length(name)`,
    ],
    ['a delete with a join', 'DELETE FROM children USING items WHERE items.id = children.item'],
    ['an insert', 'INSERT INTO tickets (title) SELECT name FROM items'],
    ['rows of several statements', 'UPDATE items SET n = 1 WHERE id <= 60; UPDATE items SET n = 2 WHERE id <= 60'],
    ['a merge', 'MERGE INTO children USING items ON items.id = children.id WHEN MATCHED THEN DELETE'],
    ['a cascade', 'DELETE FROM items WHERE id = 1'],
  ])('refuses %s above it, and takes no row lock', async (_, sql) => {
    const before = await pg.admin(`SELECT last_value FROM tickets_id_seq`);
    expect(await refusals(sql, few)).toMatch(/more than 100/);
    expect(await pg.admin(`SELECT last_value FROM tickets_id_seq`)).toEqual(before);
  });

  it('passes exactly as many rows, by key or not', async () => {
    expect(await refusals('UPDATE items SET n = 1 WHERE id <= 100', few)).toBe('');
    expect(await refusals('UPDATE items SET n = 1 WHERE id = 5', { maxRehearsedRows: 1 })).toBe('');
  });

  it('locks at most two rows for a key of SQLCAS that is not unique', async () => {
    const rows = {
      rows: [{ table: 'public.items', op: 'update', key: { n: 0 }, expect: { n: 0 }, set: { name: 'x' } }],
    };
    const ctx = stageContext(pg.stageUrl, '', { diff: diffOf(JSON.stringify(rows), 'SQLCAS') });
    expect(await sqlCasEffects.stage(ctx)).toMatchObject({
      kind: 'rejected',
      explanation: expect.stringContaining('more than one row'),
    });
  });
});
