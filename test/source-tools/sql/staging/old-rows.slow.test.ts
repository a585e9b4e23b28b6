import { Client } from 'pg';
import { captureWork, type Capture } from '../../../../source-tools/sql/staging/capture';
import { describeTarget } from '../../../../source-tools/sql/staging/describe-target';
import { openSession, type Session } from '../../../../source-tools/sql/staging/session';
import { toSqlSettings } from '../../../../source-tools/sql/staging-settings';
import { sqlCasEffects, sqlDryRunEffects } from '../../../../source-tools/sql/staging';
import { netChanges } from '../../../../source-tools/sql/staging/touched';
import { worksOf } from './prepare-sql';
import { commitContext, stageContext } from './sql-context';
import { diffOf, recordOf } from '../../../support/staged-change';
import { onEachServer } from './target-server';

const { stage, commit } = sqlDryRunEffects;

const TABLES = `
  CREATE TABLE orders (id int PRIMARY KEY, status text, total numeric(10,2) DEFAULT 0, version int DEFAULT 1);
  CREATE TABLE lines (order_id int REFERENCES orders, line int, PRIMARY KEY (order_id, line));
  CREATE TABLE pointer (id int PRIMARY KEY, at int);
  CREATE TABLE deferred (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, x text);
  CREATE TABLE keyless (x text, n int);
  CREATE TABLE parts (id int, day int, x text, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
  CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (100);
  CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (100) TO (200);
  CREATE TABLE parent (id int PRIMARY KEY, x text);
  CREATE TABLE child (PRIMARY KEY (id)) INHERITS (parent);
  CREATE TABLE priced (id int PRIMARY KEY, net int, gross int GENERATED ALWAYS AS (net * 2) STORED);
  CREATE TABLE skipped (id int PRIMARY KEY, x int);
  CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF OLD.id = 2 THEN RETURN NULL; END IF; RETURN NEW; END $$;
  CREATE TRIGGER skip BEFORE UPDATE ON skipped FOR EACH ROW EXECUTE FUNCTION skip();
  CREATE TABLE moved (id int PRIMARY KEY, x int);
  CREATE FUNCTION shift() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := NEW.id + 100; RETURN NEW; END $$;
  CREATE TRIGGER shift BEFORE UPDATE ON moved FOR EACH ROW EXECUTE FUNCTION shift();
  CREATE TABLE twice (id int PRIMARY KEY, x int, n int DEFAULT 0);
  CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE twice SET n = n + 1 WHERE id = NEW.id; RETURN NULL; END $$;
  CREATE TRIGGER again AFTER UPDATE OF x ON twice FOR EACH ROW EXECUTE FUNCTION again();
  CREATE TABLE guarded (id int PRIMARY KEY, owner text, x int);
  ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
  CREATE POLICY mine ON guarded USING (owner = 'me');
  CREATE TABLE "Odd ""name" (id int PRIMARY KEY, "where" text, "Odd ""name" text);
  CREATE TABLE calls (n int);
  CREATE FUNCTION counted(int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN INSERT INTO calls VALUES ($1); RETURN true; END $$;`;

const ROWS = `
  TRUNCATE orders, lines, pointer, deferred, keyless, parts, parent, priced, skipped, moved, twice, guarded, "Odd ""name", calls;
  INSERT INTO orders SELECT g, 'open' FROM generate_series(1, 10) g;
  INSERT INTO lines VALUES (1, 1), (1, 2), (2, 1);
  INSERT INTO pointer VALUES (1, 1);
  INSERT INTO deferred VALUES (1, 'a'), (2, 'b'), (3, 'c');
  INSERT INTO keyless VALUES ('a', 1), ('a', 1), ('b', 2);
  INSERT INTO parts VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 103, 'c');
  INSERT INTO parent VALUES (1, 'p'); INSERT INTO child VALUES (2, 'c');
  INSERT INTO priced VALUES (1, 10); INSERT INTO skipped VALUES (1, 0), (2, 0), (3, 0);
  INSERT INTO moved VALUES (1, 0), (2, 0); INSERT INTO twice VALUES (1, 0);
  INSERT INTO guarded VALUES (1, 'me', 0), (2, 'other', 0);
  INSERT INTO "Odd ""name" VALUES (1, ' where ', 'x')`;

/** Hashes of the touched rows of all tables, by statement, one for each server. */
const hashes = new Map<string, string[]>();

onEachServer((use, major) => {
  const pg = use(TABLES);
  beforeEach(() => pg.admin(ROWS));

  const dryRun = (sql: string, settings = {}) => stage(stageContext(pg.stageUrl, sql, { settings }));
  const approved = async (sql: string) => {
    const staged = stageContext(pg.stageUrl, sql);
    return commitContext(staged, pg.commitUrl, recordOf(await stage(staged)));
  };

  /**
   * Captures the statements in a transaction that is rolled back, as PostgreSQL `version` if this one is not older. `meanwhile` runs
   * before each UPDATE is sent.
   */
  async function capture(
    sql: string,
    meanwhile: () => Promise<unknown> = async () => {},
    { version = 180_000, checked = true } = {},
  ): Promise<Capture> {
    const settings = toSqlSettings({ lockTimeoutMs: 10_000 });
    const session = await openSession({ url: pg.commitUrl, changeId: 'capture', settings });
    const watched: Session = {
      ...session,
      versionNumber: Math.min(session.versionNumber, version),
      run: async (query) => {
        if (/^\s*(WITH[^;]*)?UPDATE/.test(query.text)) await meanwhile();
        return session.run(query);
      },
    };
    try {
      const captured = await captureWork(watched, await worksOf(sql), settings, { checked });
      if (captured.kind !== 'captured') throw new Error(JSON.stringify(captured));
      return captured.capture;
    } finally {
      await session.close();
    }
  }
  const changesOf = async (sql: string) => [...netChanges(await capture(sql)).values()].flat();

  describe('an UPDATE', () => {
    it.each([
      [`UPDATE orders SET status = 'paid' WHERE id = 3`, 1],
      [`UPDATE orders SET status = 'paid' WHERE id IN (3, 4)`, 2],
      [`UPDATE orders AS o SET status = l.line::text FROM lines AS l WHERE o.id = l.order_id AND l.line = 1`, 2],
      [
        `WITH few AS (SELECT id FROM orders WHERE id < 3) UPDATE orders SET total = 1 FROM few WHERE few.id = orders.id`,
        2,
      ],
      [
        `UPDATE orders SET total = (SELECT max(at) FROM pointer) WHERE EXISTS (SELECT FROM lines WHERE order_id = id) -- where`,
        2,
      ],
      [`UPDATE orders SET total = 1 WHERE id IN (SELECT id FROM orders ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)`, 1],
      [`UPDATE priced SET net = 11 WHERE id = 1 RETURNING gross`, 1],
      [`UPDATE guarded SET x = 1`, 1],
      [
        `UPDATE "Odd ""name" SET "where" = $$ where $$ || "where" /* WHERE */ WHERE "where" = ' where ' AND "Odd ""name".id = 1`,
        1,
      ],
      [`UPDATE parts SET x = 'z'`, 3],
      [`UPDATE parts SET day = 150 WHERE id = 1`, 1],
      [`UPDATE parts SET day = day + 99 WHERE id <= 2`, 2],
      [`UPDATE parent SET x = 'z'`, 2],
      [`UPDATE ONLY parent SET x = 'z'`, 1],
      [`UPDATE skipped SET x = x + 1`, 2],
      [`UPDATE orders SET id = 11 WHERE id = 3`, 1],
      [`UPDATE deferred SET id = id + 1`, 3],
      [`UPDATE deferred SET id = 3 - id WHERE id < 3`, 2],
      [`UPDATE moved SET x = 1`, 2],
    ])('of known rows is captured in full and committed without a question: %s', async (sql, rows) => {
      const ctx = await approved(sql);
      expect(ctx.approved).toMatchObject({ statements: [{ rowCount: rows }], uncaptured: [], fullyCaptured: true });
      const shas = ctx.approved.tables.map(({ touchedSha }) => touchedSha);
      for (const sha of shas) expect(sha).toMatch(/^[0-9a-f]{64}$/);
      hashes.set(sql, [...(hashes.get(sql) ?? []), shas.join()]);
      expect(await commit(ctx)).toMatchObject({ kind: 'applied', replayed: false });
    });

    it('has the rows before and after that the table had', async () => {
      expect(await changesOf(`UPDATE orders SET status = 'paid' WHERE id = 3`)).toEqual([
        {
          key: '["3"]',
          before: '{"id":"3","status":"open","total":"0.00","version":"1"}',
          after: '{"id":"3","status":"paid","total":"0.00","version":"1"}',
        },
      ]);
      expect(await changesOf(`UPDATE orders SET id = 11 WHERE id = 3`)).toMatchObject([
        { key: '["3"]', before: expect.stringContaining('"id":"3",'), after: expect.stringContaining('"id":"11",') },
      ]);
      expect(await changesOf('UPDATE skipped SET x = x + 1')).toHaveLength(2);
    });

    it('counts a row once that a join matches several times', async () => {
      const capture1 = await capture(`UPDATE orders SET version = 5 FROM lines WHERE order_id = orders.id`);
      expect(capture1).toMatchObject({ statements: [{ rowCount: 2 }], reasons: [] });
      expect(capture1.rows).toHaveLength(2);
    });

    it('follows a row through several statements', async () => {
      const changes = await changesOf(
        `UPDATE orders SET total = 1 WHERE id = 5; UPDATE orders SET id = 100 WHERE id = 5; UPDATE orders SET total = total + 1 WHERE id = 100`,
      );
      expect(changes).toMatchObject([
        {
          key: '["5"]',
          before: expect.stringContaining('"total":"0.00"'),
          after: expect.stringMatching(/"id":"100",.*"total":"2.00"/),
        },
      ]);
    });

    it('shows old and new rows apart if several keys change, and compares both at commit', async () => {
      const ctx = await approved('UPDATE deferred SET id = id + 10');
      expect(ctx.approved.tables).toMatchObject([{ table: 'public.deferred', inserted: 0, updated: 3, deleted: 0 }]);
      await pg.admin(`UPDATE deferred SET x = 'other' WHERE id = 2`);
      expect(await commit(ctx)).toMatchObject({ kind: 'stale' });
    });

    it('of a table without a primary key asks a person, and is compared at commit', async () => {
      const ctx = await approved(`UPDATE keyless SET n = n + 1 WHERE x = 'a'`);
      expect(ctx.approved).toMatchObject({
        tables: [{ updated: 2, keyed: false, touchedSha: expect.any(String) }],
        uncaptured: ['public.keyless has no primary key: its rows are identified only by their full content'],
      });
      await pg.admin(`UPDATE keyless SET n = 7 WHERE ctid = (SELECT min(ctid) FROM keyless WHERE x = 'a')`);
      expect(await commit(ctx)).toMatchObject({ kind: 'stale' });
    });

    it('whose trigger changes the same rows once more asks a person', async () => {
      const record = recordOf(await dryRun('UPDATE twice SET x = 1 WHERE id = 1'));
      expect(record).toMatchObject({
        fullyCaptured: false,
        sideEffects: [{ table: 'public.twice', updated: 1 }],
      });
    });

    it('of more rows than are kept has no hash', async () => {
      const record = recordOf(await dryRun('UPDATE orders SET total = 0', { maxCapturedRows: 4 }));
      expect(record.tables).toMatchObject([{ updated: 10, touchedSha: null }]);
      expect(record.uncaptured).toEqual([expect.stringMatching(/^more than 4 rows/)]);
    });

    it('does not lock out foreign key checks of other sessions', async () => {
      const found = await capture(`UPDATE orders SET status = 'x' WHERE id = 1`, () =>
        pg.admin(`SET lock_timeout = '5s'; INSERT INTO lines VALUES (1, 9); RESET lock_timeout`),
      );
      expect(found.reasons).toEqual([]);
    });
  });

  describe('another session', () => {
    it('that holds a row is awaited, and its version is the row before', async () => {
      const other = new Client({ connectionString: pg.adminUrl });
      await other.connect();
      try {
        await other.query(`BEGIN; UPDATE orders SET status = 'theirs', version = 2 WHERE id = 1`);
        const running = capture(`UPDATE orders SET total = 9 WHERE id <= 2`);
        await pg.until(`SELECT FROM pg_locks WHERE NOT granted`);
        await other.query('COMMIT');
        const found = await running;
        expect(found.reasons).toEqual([]);
        expect(found.rows.map(({ before }) => before).sort()).toEqual([
          '{"id":"1","status":"theirs","total":"0.00","version":"2"}',
          '{"id":"2","status":"open","total":"0.00","version":"1"}',
        ]);
      } finally {
        await other.end();
      }
    });

    it('that changes a locked row so that it no longer matches leaves it out of the rows', async () => {
      const other = new Client({ connectionString: pg.adminUrl });
      await other.connect();
      try {
        await other.query(`BEGIN; UPDATE orders SET status = 'closed' WHERE id = 1`);
        const running = capture(`UPDATE orders SET total = 9 WHERE status = 'open' AND id <= 2`);
        await pg.until(`SELECT FROM pg_locks WHERE NOT granted`);
        await other.query('COMMIT');
        const found = await running;
        expect(found).toMatchObject({ statements: [{ rowCount: 1 }], reasons: [] });
        expect(found.rows).toMatchObject([{ before: expect.stringContaining('"id":"2",') }]);
      } finally {
        await other.end();
      }
    });
  });

  describe('between the reading of the rows and the UPDATE, as before PostgreSQL 18, another session', () => {
    const OLDER = { version: 170_000 };
    const NOT_THOSE = [expect.stringContaining('are not those that its condition selected before')];

    it.each([
      ['adds a matching row', `INSERT INTO orders VALUES (0, 'open')`, 'UPDATE orders SET total = 9 WHERE id <= 2'],
      [
        'moves the condition to another row',
        'UPDATE pointer SET at = 5',
        'UPDATE orders SET total = 9 WHERE id = (SELECT at FROM pointer)',
      ],
      [
        'moves the condition to another row, and the key changes',
        'UPDATE pointer SET at = 5',
        'UPDATE orders SET id = 99 WHERE id = (SELECT at FROM pointer)',
      ],
      [
        'moves the condition to a row without a key',
        'UPDATE pointer SET at = 2',
        'UPDATE keyless SET n = 9 WHERE n = (SELECT at FROM pointer)',
      ],
    ])('%s: nothing counts as captured', async (_, meanwhile, sql) => {
      const found = await capture(sql, () => pg.admin(meanwhile), OLDER);
      expect(found.reasons).toEqual(NOT_THOSE);
      expect(found.rows).toEqual([]);
      expect(found.incomplete.size).toBe(1);
    });

    it('cannot change a row that was read', async () => {
      const found = await capture(
        'UPDATE orders SET total = 9 WHERE id = 1',
        async () => {
          const blocked = pg.admin(`SET lock_timeout = '100ms'; UPDATE orders SET total = 5 WHERE id = 1`);
          await expect(blocked).rejects.toMatchObject({ code: '55P03' });
          await pg.admin('RESET lock_timeout');
        },
        OLDER,
      );
      expect(found).toMatchObject({ statements: [{ rowCount: 1 }], reasons: [] });
    });

    it('is not awaited if the condition must be evaluated only once: nothing is read before', async () => {
      const found = await capture('UPDATE orders SET total = 9 WHERE id = 1', async () => {}, {
        ...OLDER,
        checked: false,
      });
      expect(found.reasons).toEqual([expect.stringContaining('its conditions must be evaluated only once')]);
      expect(found.rows).toEqual([]);
    });

    it('removes one matching row by the condition: the row that was read and not changed is left out', async () => {
      const found = await capture(
        'UPDATE orders SET total = 9 WHERE id IN (1, (SELECT at + 1 FROM pointer))',
        () => pg.admin('UPDATE pointer SET at = 100'),
        OLDER,
      );
      expect(found.rows).toMatchObject([{ before: expect.stringContaining('"id":"1",') }]);
    });
  });

  it('compares and sets rows', async () => {
    const rows = [
      { table: 'public.orders', key: { id: 5 }, expect: { version: 1 }, set: { status: 'cas', version: 2 } },
    ];
    const staged = { ...stageContext(pg.stageUrl, ''), diff: diffOf(JSON.stringify({ rows }), 'SQLCAS') };
    const record = recordOf(await sqlCasEffects.stage(staged));
    expect(record).toMatchObject({ fullyCaptured: true, tables: [{ updated: 1, touchedSha: expect.any(String) }] });
    expect(await sqlCasEffects.commit(commitContext(staged, pg.commitUrl, record))).toMatchObject({ kind: 'applied' });
    expect(await sqlCasEffects.stage(staged)).toMatchObject({ kind: 'rejected' });
  });

  if (major >= 18) return;

  describe('what cannot be captured before PostgreSQL 18', () => {
    const UNCAPTURED = [
      `INSERT INTO orders VALUES (1, 'a'), (20, 'b') ON CONFLICT (id) DO UPDATE SET status = 'c'`,
      `MERGE INTO orders USING (VALUES (1), (20)) AS v(id) ON orders.id = v.id WHEN MATCHED THEN UPDATE SET status = 'm' WHEN NOT MATCHED THEN INSERT (id) VALUES (v.id)`,
    ].filter((sql) => major >= 15 || !sql.startsWith('MERGE'));
    it.each(UNCAPTURED)('is counted, and asks a person: %s', async (sql) => {
      const ctx = await approved(sql);
      expect(ctx.approved).toMatchObject({
        tables: [{ table: 'public.orders', inserted: 1, updated: 1, touchedSha: null }],
        sideEffects: [],
        fullyCaptured: false,
        uncaptured: [expect.stringContaining('(18 does), so they cannot be captured')],
      });
      expect(await commit(ctx)).toMatchObject({ kind: 'applied' });
    });

    it('is compared by its counts at commit', async () => {
      const ctx = await approved(
        `INSERT INTO orders VALUES (7, 'a'), (20, 'b') ON CONFLICT (id) DO UPDATE SET status = 'c'`,
      );
      await pg.admin('DELETE FROM orders WHERE id = 7');
      expect(await commit(ctx)).toMatchObject({ kind: 'stale' });
    });

    it.each([
      ['UPDATE orders SET total = 1 WHERE id = 1 AND xmax = 0', /condition cannot be read separately/],
      [
        'WITH orders AS (SELECT id, tableoid, ctid FROM orders WHERE id = 1) UPDATE orders SET total = 1 WHERE id <= 3',
        /number of rows that it changes cannot be determined/,
      ],
    ])('is an UPDATE whose condition would mean something else in a query: %s', async (sql, reason) => {
      const ctx = await approved(sql);
      expect(ctx.approved).toMatchObject({ fullyCaptured: false, uncaptured: [expect.stringMatching(reason)] });
      expect(await commit(ctx)).toMatchObject({ kind: 'applied' });
    });

    it('evaluates the condition of a change that was not rehearsed only once', async () => {
      const ctx = await approved('UPDATE orders SET total = 1 WHERE id = 1 AND counted(id)');
      expect(ctx.approved.reason).toBe('not_rehearsed');
      expect(await commit(ctx)).toMatchObject({ kind: 'applied' });
      expect(await pg.admin('SELECT count(*)::int AS n FROM calls')).toEqual([{ n: 1 }]);
    });

    it('is reported by doctor', async () => {
      const lines = await describeTarget(pg.stageUrl, 'stage');
      expect(lines[0]).toMatchObject({
        level: 'warn',
        text: expect.stringContaining('MERGE and INSERT … ON CONFLICT DO UPDATE'),
      });
    });
  });
});

it('gives the same hash on each server, unless several rows get another key', () => {
  expect(hashes.size).toBeGreaterThan(0);
  for (const [sql, each] of hashes)
    if (!/deferred|moved/.test(sql)) expect([sql, new Set(each).size]).toEqual([sql, 1]);
});
