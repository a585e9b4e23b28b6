import type { StagingRecord } from '../../../../policy/contracts/staging-record';
import { rehearse } from '../../../../source-tools/sql/staging/rehearse';
import type { Session } from '../../../../source-tools/sql/staging/session';
import { sqlDryRunEffects } from '../../../../source-tools/sql/staging';
import { onEachSharedServer } from './target-server';
import { prepareSql } from './prepare-sql';
import { stageContext } from './sql-context';
import { recordOf } from '../../../support/staged-change';

/** Values that are constant in a session or a transaction, and other in the next one. */
const OF_A_SESSION = [
  'pg_backend_pid()',
  'inet_client_port()',
  'inet_client_addr()',
  'pg_my_temp_schema()',
  'txid_current()',
  'pg_current_xact_id()',
  'pg_current_snapshot()',
  'pg_conf_load_time()',
  'pg_postmaster_start_time()',
  'random()',
  'lastval()',
  `currval('tickets_id_seq')`,
  `current_setting('application_name')`,
  `set_config('my.run', 'x', false)`,
  `(SELECT backend_start FROM pg_stat_activity LIMIT 1)`,
  'session_user',
] as const;

/** Objects that execute a value of the session, and a statement that executes them. */
const INDIRECT: readonly (readonly [where: string, objects: string, sql: string])[] = [
  [
    'a default',
    'CREATE TABLE x_t (id int PRIMARY KEY, n int DEFAULT inet_client_port())',
    'INSERT INTO x_t (id) VALUES (1)',
  ],
  [
    'a function in SQL',
    'CREATE FUNCTION x_f() RETURNS int LANGUAGE sql AS $f$ SELECT pg_backend_pid() $f$',
    'UPDATE items SET n = x_f() WHERE id = 1',
  ],
  [
    'a trigger',
    `CREATE FUNCTION x_f() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN NEW.n := pg_backend_pid(); RETURN NEW; END $f$;
     CREATE TRIGGER x_g BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION x_f()`,
    `UPDATE items SET name = 'x' WHERE id = 1`,
  ],
  [
    'a view',
    'CREATE VIEW x_v AS SELECT inet_client_port() AS n',
    'UPDATE items SET n = (SELECT n FROM x_v) WHERE id = 1',
  ],
];

onEachSharedServer((use) => {
  const pg = use(`
      CREATE TABLE items (id int PRIMARY KEY, name text, n int, at timestamptz);
      INSERT INTO items SELECT g, 'i' || g, 0, '2026-01-01' FROM generate_series(1, 20) g;
      CREATE TABLE tickets (id bigserial PRIMARY KEY, title text);
      CREATE SEQUENCE ahead CACHE 50;
      CREATE TABLE parcels (id bigint PRIMARY KEY DEFAULT nextval('ahead'), title text);
      CREATE TABLE audit (id bigserial PRIMARY KEY, what text);
      CREATE FUNCTION tag() RETURNS text LANGUAGE plpgsql AS $f$ BEGIN RETURN 'first'; END $f$;
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $f$ BEGIN INSERT INTO audit (what) VALUES (NEW.n::text); RETURN NULL; END $f$;
      CREATE TRIGGER note AFTER UPDATE ON items FOR EACH ROW EXECUTE FUNCTION note();
      ANALYZE;
    `);

  const AT = { settings: { volatileColumns: ['public.items.at'] } };
  const stage = (sql: string) => sqlDryRunEffects.stage(stageContext(pg.stageUrl, sql));
  /** Runs a dry run of one statement. `before` is called with the session of the n-th run, before its check. */
  const rehearsed = async (
    sql: string,
    before: (run: number, session: Session) => Promise<unknown>,
    more = {},
  ): Promise<{ readonly record: StagingRecord; readonly runs: number }> => {
    const { prepare, runs } = await prepareSql(sql, before);
    const record = recordOf(await rehearse(stageContext(pg.stageUrl, sql, more), prepare));
    return { record, runs: runs() };
  };

  describe('a value that is constant in a session', () => {
    const refused = async (sql: string): Promise<void> => {
      const record = recordOf(await stage(sql));
      expect(record).toMatchObject({ reason: 'not_rehearsed', statements: [{ rowCount: 0 }], tables: [] });
    };

    it.each(OF_A_SESSION)('is never rehearsed: %s', async (value) => {
      await refused(`UPDATE items SET name = ${value}::text WHERE id = 1`);
      await refused(`UPDATE items SET n = 1 WHERE id = 1 AND ${value}::text IS DISTINCT FROM 'x'`);
    });

    it.each(INDIRECT)('is never rehearsed in %s', async (_, objects, sql) => {
      await pg.admin(objects);
      await pg.grant();
      try {
        await refused(sql);
      } finally {
        await pg.admin(
          'DROP VIEW IF EXISTS x_v; DROP TABLE IF EXISTS x_t; DROP TRIGGER IF EXISTS x_g ON items; DROP FUNCTION IF EXISTS x_f()',
        );
      }
    });
  });

  describe('two runs of a dry run', () => {
    it.each([
      ['now()', 'UPDATE items SET at = now() WHERE id = 1', 'at'],
      ['CURRENT_TIMESTAMP(3)', 'UPDATE items SET at = CURRENT_TIMESTAMP(3) WHERE id = 1', 'at'],
      ['transaction_timestamp()', 'UPDATE items SET at = transaction_timestamp() WHERE id = 1', 'at'],
      ['statement_timestamp()', 'UPDATE items SET at = statement_timestamp() WHERE id = 1', 'at'],
      ['clock_timestamp()', 'UPDATE items SET at = clock_timestamp() WHERE id = 1', 'at'],
      ['an expression of a clock', `UPDATE items SET name = 'at ' || now() WHERE id = 1`, 'name'],
      ['a sequence', `INSERT INTO tickets (title) VALUES ('t')`, 'id'],
      ['a sequence with a cache', `INSERT INTO parcels (title) VALUES ('t'), ('u')`, 'id'],
    ])('show that %s is volatile', async (_, sql, column) => {
      const record = recordOf(await stage(sql));
      expect(record.reason).toBeNull();
      expect(record.tables[0]?.volatileColumns).toEqual([column]);
    });

    it('never get the same values of a sequence, with a cache or not', async () => {
      const used = async (name: string) => Number((await pg.admin(`SELECT last_value AS v FROM ${name}`))[0]?.['v']);
      const [before, cached] = [await used('tickets_id_seq'), await used('ahead')];
      await stage(`INSERT INTO tickets (title) VALUES ('t')`);
      await stage(`INSERT INTO parcels (title) VALUES ('t')`);
      expect(await used('tickets_id_seq')).toBe(before + 2);
      // Each run reserves values for itself, as each new session does: none is left for the next.
      expect(await used('ahead')).toBe(cached + 100);
    });

    it('count the side effects of one run', async () => {
      const record = recordOf(await stage('UPDATE items SET n = n + 1 WHERE id <= 4'));
      expect(record.sideEffects).toEqual([{ table: 'public.audit', inserted: 4, updated: 0, deleted: 0 }]);
    });

    it('start with the rows before the change, and have transactions of their own', async () => {
      const seen: (string | null)[][] = [];
      const { runs } = await rehearsed('UPDATE items SET n = n + 1, at = now() WHERE id = 1', async (_, session) => {
        const [row] = await session.rows('SELECT n, now(), pg_current_xact_id() FROM items WHERE id = 1');
        seen.push([...(row ?? [])]);
      });
      expect(runs).toBe(2);
      const [first = [], second = []] = seen;
      expect(second[0]).toBe(first[0]);
      expect(second[1]).not.toBe(first[1]);
      expect(second[2]).not.toBe(first[2]);
    });
  });

  describe('the second run', () => {
    const CHANGE = 'UPDATE items SET name = tag(), n = n + 1, at = now() WHERE id = 2';
    afterEach(() =>
      pg.admin(`
        CREATE OR REPLACE FUNCTION tag() RETURNS text LANGUAGE plpgsql AS $f$ BEGIN RETURN 'first'; END $f$;
        CREATE OR REPLACE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $f$ BEGIN INSERT INTO audit (what) VALUES (NEW.n::text); RETURN NULL; END $f$;
        DROP TRIGGER IF EXISTS x_g ON items; ALTER TABLE items DROP COLUMN IF EXISTS more; ALTER TABLE items ALTER n TYPE int USING 0;
        ALTER TABLE items DISABLE ROW LEVEL SECURITY; DROP POLICY IF EXISTS mine ON items`),
    );
    const withChange = (sql: string) => rehearsed(CHANGE, async (run) => run === 2 && pg.admin(sql), AT);

    it('executes a function as it is then', async () => {
      const { record, runs } = await withChange(
        `CREATE OR REPLACE FUNCTION tag() RETURNS text LANGUAGE plpgsql AS $f$ BEGIN RETURN 'second'; END $f$`,
      );
      expect(runs).toBe(2);
      expect(record.tables[0]?.volatileColumns).toEqual(['at', 'name']);
      expect(record.fullyCaptured).toBe(false);
    });

    it('executes a trigger as it is then', async () => {
      const { record } = await withChange(
        `CREATE OR REPLACE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $f$ BEGIN INSERT INTO audit (what) VALUES ('a'), ('b'); RETURN NULL; END $f$`,
      );
      expect(record.sideEffects).toEqual([{ table: 'public.audit', inserted: 2, updated: 0, deleted: 0 }]);
    });

    it('is not made if the function is not on the list then', async () => {
      const { record } = await withChange(
        `CREATE OR REPLACE FUNCTION tag() RETURNS text LANGUAGE plpgsql AS $f$ BEGIN RETURN pg_backend_pid(); END $f$`,
      );
      expect(record).toMatchObject({ reason: 'not_rehearsed', tables: [], fullyCaptured: false });
    });

    it('is not made if a trigger that is not on the list was added', async () => {
      const { record } = await withChange(
        `CREATE TRIGGER x_g BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
      );
      expect(record.reason).toBe('not_rehearsed');
    });

    it('has the columns and types that the table has then', async () => {
      const { record, runs } = await withChange(
        `ALTER TABLE items ADD COLUMN more int DEFAULT 7, ALTER n TYPE bigint USING n + 5000000000`,
      );
      expect(runs).toBe(3);
      expect(record.tables).toMatchObject([{ updated: 1, touchedSha: expect.any(String), volatileColumns: ['at'] }]);
      expect(record.uncaptured).toEqual([expect.stringContaining('public.audit: 1 inserted')]);
    });

    it('changes only the rows that the role may see then', async () => {
      const { record } = await withChange(
        `ALTER TABLE items ENABLE ROW LEVEL SECURITY; CREATE POLICY mine ON items USING (id <> 2)`,
      );
      expect(record.tables).toEqual([]);
    });
  });
});
