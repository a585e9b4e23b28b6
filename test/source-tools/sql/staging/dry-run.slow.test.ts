import { onEachServer } from './target-server';
import { CountersignFailure } from '../../../../policy/contracts/failure';
import { FailureType } from '../../../../policy/contracts/failure-type';
import { sqlDryRunEffects } from '../../../../source-tools/sql/staging';
import { stageContext } from './sql-context';
import { diffOf, previewOf, recordOf } from '../../../support/staged-change';
import { StagingRecord, stagingSha } from '../../../../policy/contracts/staging-record';

const { stage } = sqlDryRunEffects;
/** Only with OLD and NEW in RETURNING. */
type Case = readonly [sql: string, counts: object | null, table: string];
const RETURNS_OLD_ROWS: readonly Case[] = [
  [
    `DELETE FROM orders WHERE id = 7 RETURNING id, old.status`,
    { inserted: 0, updated: 0, deleted: 1 },
    'public.orders',
  ],
  [
    `DELETE FROM orders WHERE id = 7 RETURNING WITH (OLD AS gone) gone.id`,
    { inserted: 0, updated: 0, deleted: 1 },
    'public.orders',
  ],
  [
    `INSERT INTO customers VALUES (1, 'again'), (101, 'new') ON CONFLICT (id) DO UPDATE SET name = excluded.name`,
    { inserted: 1, updated: 1, deleted: 0 },
    'public.customers',
  ],
  [
    `MERGE INTO customers c USING (VALUES (1, 'x'), (2, 'y'), (102, 'z')) v(id, name) ON c.id = v.id
      WHEN MATCHED AND v.id = 1 THEN UPDATE SET name = v.name WHEN MATCHED THEN UPDATE SET name = 'merged' WHEN NOT MATCHED THEN INSERT (id, name) VALUES (v.id, v.name)`,
    { inserted: 1, updated: 2, deleted: 0 },
    'public.customers',
  ],
];
/** Two values, of which the second differs in each transaction. */
const EXPANDED = '(ROW(900, md5(now()::text))::audit).*';

onEachServer((use, major) => {
  const pg = use(`
    CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, "o__" text);
    CREATE TABLE orders (id int PRIMARY KEY, customer_id int REFERENCES customers ON DELETE CASCADE, status text NOT NULL,
      total numeric(12,2) CHECK (total >= 0), updated_at timestamptz);
    INSERT INTO customers SELECT g, 'c' || g, 'column' FROM generate_series(1, 20) g;
    INSERT INTO orders SELECT g, 1 + g % 20, CASE WHEN g % 3 = 0 THEN 'open' ELSE 'paid' END, g, '2026-01-01' FROM generate_series(1, 100) g;
    CREATE TABLE audit (id serial PRIMARY KEY, what text);
    CREATE TABLE audited (id int PRIMARY KEY, x int);
    INSERT INTO audited SELECT g, g FROM generate_series(1, 10) g;
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO audit (what) VALUES (TG_OP); RETURN NULL; END $$;
    CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON audited FOR EACH ROW EXECUTE FUNCTION note();
    CREATE TABLE logged (at timestamptz, line text);
    INSERT INTO logged SELECT '2026-01-01', 'line ' || g % 5 FROM generate_series(1, 10) g;
    CREATE TABLE parts (id int, day date, x text, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
    CREATE TABLE parts_jan PARTITION OF parts FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
    CREATE TABLE parts_feb PARTITION OF parts FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
    INSERT INTO parts VALUES (1, '2026-01-05', 'a'), (2, '2026-01-06', 'b'), (3, '2026-02-05', 'c');
    CREATE TABLE tickets (id bigserial PRIMARY KEY, token uuid DEFAULT gen_random_uuid(), title text);
    CREATE VIEW open_orders AS SELECT id, status FROM orders WHERE status = 'open';
    CREATE TABLE big (id bigint PRIMARY KEY, n bigint);
    INSERT INTO big VALUES (9007199254740993, 1);
    CREATE TABLE secrets (id int PRIMARY KEY);
  `);
  beforeAll(async () => {
    await pg.admin('REVOKE ALL ON secrets FROM countersign_stage');
  });

  const TABLES = ['customers', 'orders', 'audit', 'audited', 'logged', 'parts', 'tickets', 'big'];
  let before: string[];
  const checksums = async (): Promise<string[]> => {
    const sums: string[] = [];
    for (const table of TABLES) sums.push(await pg.checksum(table));
    return sums;
  };
  beforeEach(async () => {
    before = await checksums();
  });
  afterEach(async () => {
    // A dry run must not change anything.
    expect(await checksums()).toEqual(before);
  });

  const dryRun = (sql: string, settings = {}) => stage(stageContext(pg.stageUrl, sql, { settings }));
  /** As its activity does, tries again if the server does not answer in time: a busy machine may not run it for seconds. */
  const answered = async <T>(run: () => Promise<T>, retries = 3): Promise<T> => {
    try {
      return await run();
    } catch (error) {
      if (retries === 0 || !(error instanceof CountersignFailure && error.type === FailureType.Target)) throw error;
      return await answered(run, retries - 1);
    }
  };

  describe('a dry run', () => {
    it('captures each updated row before and after, and gives equal hashes for two dry runs of one change', async () => {
      const [a, b] = [
        await dryRun(`UPDATE orders SET status = 'shipped' WHERE id <= 3`),
        await dryRun(`UPDATE orders SET status = 'shipped' WHERE id <= 3`),
      ];
      const record = recordOf(a);
      expect(record).toMatchObject({
        statements: [{ command: 'UPDATE', rowCount: 3 }],
        tables: [{ table: 'public.orders', inserted: 0, updated: 3, deleted: 0, keyed: true, volatileColumns: [] }],
        sideEffects: [],
        fullyCaptured: true,
        uncaptured: [],
        serverVersion: expect.stringContaining(`${major}.`),
      });
      expect(record.tables[0]?.touchedSha).toMatch(/^[0-9a-f]{64}$/);
      expect(StagingRecord.parse(record)).toEqual(record);
      expect(stagingSha(recordOf(b))).toBe(stagingSha(record));
      expect(previewOf(a)).toMatchObject({
        tables: [
          {
            table: 'public.orders',
            total: 3,
            rows: [{ before: { id: '1', status: 'paid' }, after: { status: 'shipped' } }, {}, {}],
          },
        ],
      });
    });

    it('shows rows in the order of their numbers', async () => {
      const { tables } = previewOf(await dryRun(`UPDATE orders SET status = 'shipped' WHERE id <= 11`));
      const [{ rows } = { rows: [] }] = tables as unknown as { rows: { before: { id: string } }[] }[];
      expect(rows.map(({ before }) => Number(before.id))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    });

    it.each<Case>([
      [
        `INSERT INTO customers VALUES (100, 'new') -- a comment at the end`,
        { inserted: 1, updated: 0, deleted: 0 },
        'public.customers',
      ],
      [
        `DELETE FROM orders WHERE id = 7 RETURNING id, status`,
        { inserted: 0, updated: 0, deleted: 1 },
        'public.orders',
      ],
      ...(major < 18 ? [] : RETURNS_OLD_ROWS),
      [
        `WITH few AS (SELECT id FROM orders LIMIT 0) UPDATE customers AS o__ SET name = 'x' FROM few WHERE o__.id <> few.id OR true AND o__.id = 5`,
        null,
        '',
      ],
      [
        `UPDATE customers SET name = 'alias' WHERE "o__" = 'column' AND id = 4`,
        { inserted: 0, updated: 1, deleted: 0 },
        'public.customers',
      ],
      [
        `UPDATE orders SET status = 'taken' WHERE id = (SELECT id FROM orders WHERE status = 'open' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)`,
        { inserted: 0, updated: 1, deleted: 0 },
        'public.orders',
      ],
      [
        `UPDATE big SET n = 9007199254740995 WHERE id = 9007199254740993`,
        { inserted: 0, updated: 1, deleted: 0 },
        'public.big',
      ],
    ])('captures all rows of: %s', async (sql, counts, table) => {
      const record = recordOf(await dryRun(sql));
      expect(record.uncaptured).toEqual([]);
      expect(record.tables).toEqual(
        counts === null ? [] : [expect.objectContaining({ table, ...counts, touchedSha: expect.any(String) })],
      );
    });

    it('counts rows changed by a trigger as side effects, and reports that they were not captured', async () => {
      const record = recordOf(await dryRun('UPDATE audited SET x = x + 1 WHERE id <= 4'));
      expect(record.tables).toMatchObject([{ table: 'public.audited', updated: 4 }]);
      expect(record.sideEffects).toEqual([{ table: 'public.audit', inserted: 4, updated: 0, deleted: 0 }]);
      expect(record.fullyCaptured).toBe(false);
      expect(record.uncaptured).toEqual([expect.stringContaining('public.audit: 4 inserted')]);
    });

    it('counts rows deleted by ON DELETE CASCADE', async () => {
      const record = recordOf(await dryRun('DELETE FROM customers WHERE id = 1'));
      expect(record.tables).toMatchObject([{ table: 'public.customers', deleted: 1 }]);
      expect(record.sideEffects).toEqual([{ table: 'public.orders', inserted: 0, updated: 0, deleted: 5 }]);
    });

    it('does not count rows of an earlier transaction', async () => {
      const [a, b] = await Promise.all([dryRun('UPDATE audited SET x = 0'), dryRun('UPDATE audited SET x = 0')]);
      expect(recordOf(a).sideEffects).toEqual([{ table: 'public.audit', inserted: 10, updated: 0, deleted: 0 }]);
      expect(recordOf(b)).toEqual(recordOf(a));
    });

    it.each([
      ['a DELETE inside WITH', 'WITH gone AS (DELETE FROM orders WHERE id <= 2 RETURNING *) SELECT count(*) FROM gone'],
      ['a DO block', `DO $$ BEGIN DELETE FROM orders WHERE id <= 3; END $$`],
      ['EXPLAIN ANALYZE', 'EXPLAIN ANALYZE DELETE FROM orders WHERE id <= 5'],
      ['a prepared statement', 'PREPARE p AS DELETE FROM orders WHERE id = 6; EXECUTE p'],
      ['TRUNCATE', 'TRUNCATE orders'],
      ['ALTER TABLE', 'ALTER TABLE orders ADD COLUMN note text'],
      ['CREATE TABLE AS', 'CREATE TABLE copy AS SELECT * FROM orders'],
      ['SET CONSTRAINTS', 'SET CONSTRAINTS ALL DEFERRED'],
      ['LOCK TABLE', 'LOCK TABLE orders'],
    ])('is not made for %s: nothing executes, and the record says so', async (_, sql) => {
      expect(recordOf(await dryRun(sql))).toMatchObject({
        reason: 'not_rehearsed',
        fullyCaptured: false,
        tables: [],
        sideEffects: [],
        statements: expect.arrayContaining([expect.objectContaining({ rowCount: 0 })]),
      });
    });

    it('counts writes through a view on its table, without capturing them', async () => {
      const record = recordOf(await dryRun(`UPDATE open_orders SET status = 'held' WHERE id <= 9`));
      expect(record.sideEffects).toMatchObject([{ table: 'public.orders', updated: 3 }]);
      expect(record.uncaptured[0]).toContain('public.open_orders is a view');
    });

    it('asks a person about a column that differs in each run, and still gives equal hashes', async () => {
      const sql = `UPDATE orders SET status = 'paid', updated_at = now() WHERE id = 3`;
      const [a, b] = [recordOf(await dryRun(sql)), recordOf(await dryRun(sql))];
      expect(a.tables[0]).toMatchObject({ volatileColumns: ['updated_at'], updated: 1 });
      expect(a).toMatchObject({
        fullyCaptured: false,
        uncaptured: [
          'public.orders.updated_at: the value differs between two dry runs, so it is not compared at commit; if the column keeps the time of a change, declare it in volatileColumns of the target',
        ],
        notCompared: [{ table: 'public.orders', column: 'updated_at', why: 'the value differs between two dry runs' }],
      });
      expect(stagingSha(b)).toBe(stagingSha(a));
    });

    it.each([
      [`INSERT INTO customers (id, name) SELECT ${EXPANDED}`, 'name'],
      [`INSERT INTO customers (id, name) VALUES (${EXPANDED})`, 'name'],
      [`INSERT INTO customers SELECT 900, ${EXPANDED}`, 'o__'],
      ...(major >= 18
        ? [
            [
              `MERGE INTO customers USING (SELECT) ON false WHEN NOT MATCHED THEN INSERT VALUES (900, ${EXPANDED})`,
              'o__',
            ],
            [`INSERT INTO customers SELECT 900, ${EXPANDED} ON CONFLICT (id) DO UPDATE SET name = 'again'`, 'o__'],
            [
              `MERGE INTO customers c USING (VALUES (1), (900)) v(id) ON c.id = v.id
                WHEN MATCHED THEN UPDATE SET name = 'again' WHEN NOT MATCHED THEN INSERT VALUES (v.id, ${EXPANDED})`,
              'o__',
            ],
          ]
        : []),
    ])('asks a person about a column that differs because of a star among the values: %s', async (sql, column) => {
      expect(recordOf(await dryRun(sql)).notCompared).toEqual([
        { table: 'public.customers', column, why: 'the value differs between two dry runs' },
      ]);
    });

    // Older servers do not return the rows of a MERGE.
    if (major >= 18)
      it.each(['1', '1, DEFAULT'])(
        'asks a person about a column that the second INSERT of a MERGE assigns, whatever the first does: VALUES (%s)',
        async (first) => {
          const sql = `MERGE INTO audit USING (SELECT) ON false
            WHEN NOT MATCHED AND false THEN INSERT VALUES (${first}) WHEN NOT MATCHED THEN INSERT VALUES (900, md5(now()::text))`;
          expect(recordOf(await dryRun(sql)).notCompared).toEqual([
            { table: 'public.audit', column: 'what', why: 'the value differs between two dry runs' },
          ]);
        },
      );

    it('does not ask about the default of a column after those whose values are given', async () => {
      const record = recordOf(await dryRun('INSERT INTO tickets VALUES (900)'));
      expect(record.notCompared).toEqual([
        { table: 'public.tickets', column: 'token', why: 'the default of the column gives each row another value' },
      ]);
    });

    it.each([
      ['now()', true],
      ['CURRENT_TIMESTAMP', true],
      ['clock_timestamp()::timestamptz', true],
      [`now() + interval '1 day'`, false],
      [`CASE WHEN now() > '2030-01-01' THEN NULL ELSE now() END`, false],
    ])('passes a bare clock in a column that the target declares volatile: %s, %s', async (value, captured) => {
      const staged = await dryRun(`UPDATE orders SET updated_at = ${value} WHERE id = 3`, {
        volatileColumns: ['public.orders.updated_at'],
      });
      const record = recordOf(staged);
      expect(record.fullyCaptured).toBe(captured);
      expect(record.notCompared).toMatchObject([{ table: 'public.orders', column: 'updated_at' }]);
      expect(previewOf(staged)).toMatchObject({
        tables: [{ rows: [{ after: { updated_at: { notCompared: expect.anything() } } }] }],
      });
    });

    it('leaves a declared clock out of the comparison even if it did not differ', async () => {
      const record = recordOf(
        await dryRun(`UPDATE parts SET day = CURRENT_DATE - CURRENT_DATE + day, x = CURRENT_DATE::text WHERE id = 1`, {
          volatileColumns: ['public.parts.x', 'public.parts.day'],
        }),
      );
      expect(record.notCompared).toMatchObject([{ table: 'public.parts_jan', column: 'x' }]);
    });

    it('lists sequence keys and random defaults of new rows as volatile, regardless of row order', async () => {
      const record = recordOf(
        await dryRun(`INSERT INTO tickets (title) SELECT 't' || g FROM generate_series(1, 30) g`),
      );
      expect(record.tables[0]).toMatchObject({
        inserted: 30,
        volatileColumns: ['id', 'token'],
        touchedSha: expect.any(String),
      });
      expect(record.uncaptured).toEqual([]);
      expect(record.notCompared.map(({ column, why }) => [column, why])).toEqual([
        ['id', 'the default of the column gives each row another value'],
        ['token', 'the default of the column gives each row another value'],
      ]);
    });

    it('lists a random UUID that a statement gives new rows, and asks about one that is mixed with other values', async () => {
      const one = recordOf(await dryRun(`INSERT INTO tickets (id, token) VALUES (900, gen_random_uuid())`));
      const why = 'the statement gives each new row a random UUID';
      expect(one.notCompared).toEqual([{ table: 'public.tickets', column: 'token', why }]);
      expect(one).toMatchObject({ fullyCaptured: true, tables: [{ volatileColumns: ['token'] }] });
      const mixed = `INSERT INTO tickets (id, token) VALUES (900, gen_random_uuid()), (901, '00000000-0000-4000-8000-000000000000')`;
      expect(recordOf(await dryRun(mixed)).uncaptured).toEqual([
        'public.tickets.token: the value differs between two dry runs, so it is not compared at commit',
      ]);
    });

    it('follows a row through several statements, so that a volatile value of one is not a changed old row of the next', async () => {
      const sql = `UPDATE orders SET updated_at = clock_timestamp() WHERE id = 3; UPDATE orders SET total = total + 1 WHERE id = 3`;
      const record = recordOf(await dryRun(sql, { volatileColumns: ['public.orders.updated_at'] }));
      expect(record.tables[0]).toMatchObject({ updated: 2, volatileColumns: ['updated_at'] });
      expect(record.tables[0]?.touchedSha).not.toBeNull();
      expect(record.fullyCaptured).toBe(true);
    });

    it('reports a change that affects other rows in each run', async () => {
      const record = recordOf(
        await dryRun(
          'DELETE FROM logged WHERE ctid IN (SELECT ctid FROM logged ORDER BY md5(ctid::text || now()) LIMIT 3)',
        ),
      );
      expect(record.tables[0]).toMatchObject({ deleted: 3, keyed: false });
      const keyed = recordOf(
        await dryRun(
          'UPDATE orders SET total = 0 WHERE id IN (SELECT id FROM orders ORDER BY md5(id::text || now()) LIMIT 20)',
        ),
      );
      expect(keyed.tables[0]).toMatchObject({ updated: 20, touchedSha: null });
      expect(keyed.uncaptured).toContain('public.orders: two dry runs did not change the same rows in the same way');
    });

    it('hashes a table without a primary key by the multiset of its rows, and reports it', async () => {
      const sql = `UPDATE logged SET line = 'x' WHERE line = 'line 1'`;
      const record = recordOf(await dryRun(sql));
      expect(record.tables[0]).toMatchObject({
        table: 'public.logged',
        updated: 2,
        keyed: false,
        touchedSha: expect.any(String),
      });
      expect(record.uncaptured).toEqual([
        'public.logged has no primary key: its rows are identified only by their full content',
      ]);
      expect(recordOf(await dryRun(`INSERT INTO logged VALUES ('2026-02-02', 'new')`)).fullyCaptured).toBe(true);
    });

    it('reports rows by partition, and counts a row that moves in both partitions', async () => {
      const all = recordOf(await dryRun(`UPDATE parts SET x = 'z'`));
      expect(all.tables.map((t) => [t.table, t.updated])).toEqual([
        ['public.parts_feb', 1],
        ['public.parts_jan', 2],
      ]);
      const moved = recordOf(await dryRun(`UPDATE parts SET day = '2026-02-07' WHERE id = 1`));
      expect(moved.tables).toMatchObject([
        { table: 'public.parts_feb', inserted: 1 },
        { table: 'public.parts_jan', deleted: 1 },
      ]);
      expect(moved).toMatchObject({ sideEffects: [], fullyCaptured: true });
    });

    it('counts rows beyond the limit without keeping them, and gives no hash', async () => {
      const record = recordOf(await dryRun('UPDATE orders SET total = 0', { maxCapturedRows: 10 }));
      expect(record.tables).toMatchObject([{ updated: 100, touchedSha: null }]);
      expect(record.uncaptured[0]).toMatch(/^more than 10 rows/);
    });

    it('never takes a table that is named OLD for the rows before', async () => {
      // With OLD and NEW in RETURNING `old.*` would be the new row of that table.
      const staged = await dryRun(`UPDATE orders AS old SET total = 5.5 WHERE id = 5 RETURNING old.id`);
      const record = recordOf(staged);
      expect(record.tables).toMatchObject([{ table: 'public.orders', updated: 1 }]);
      expect(record.fullyCaptured).toBe(major < 18);
      expect(record.tables[0]?.touchedSha === null).toBe(major >= 18);
      if (major < 18)
        expect(previewOf(staged)).toMatchObject({
          tables: [{ rows: [{ before: { total: '5.00' }, after: { total: '5.50' } }] }],
        });
    });

    it('returns full rows if a column is named like the alias of the old row, and if the schema defines to_jsonb', async () => {
      await pg.admin(
        `CREATE FUNCTION public.to_jsonb(customers) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$ SELECT '{"id": 0}'::jsonb $$`,
      );
      try {
        const staged = await dryRun(`UPDATE customers SET name = 'x' WHERE id = 4`);
        expect(previewOf(staged)).toMatchObject({
          tables: [{ rows: [{ before: { id: '4', name: 'c4', o__: 'column' }, after: { id: '4', name: 'x' } }] }],
        });
      } finally {
        await pg.admin('DROP FUNCTION public.to_jsonb(customers)');
      }
    });

    it('reads string literals like the parser does, regardless of the settings of the role', async () => {
      await pg.admin('ALTER ROLE countersign_stage SET standard_conforming_strings = off');
      try {
        const staged = await dryRun(`UPDATE orders SET status = 'a\\' WHERE id = 1 AND status <> ' OR true --'`);
        expect(previewOf(staged)).toMatchObject({ tables: [{ total: 1, rows: [{ after: { status: 'a\\' } }] }] });
      } finally {
        await pg.admin('ALTER ROLE countersign_stage RESET standard_conforming_strings');
      }
    });

    it('changes nothing for SELECT', async () => {
      expect(recordOf(await dryRun('SELECT * FROM orders; SELECT 1'))).toMatchObject({
        statements: [
          { command: 'SELECT', rowCount: 0 },
          { command: 'SELECT', rowCount: 0 },
        ],
        tables: [],
        sideEffects: [],
        fullyCaptured: true,
      });
    });

    it('runs deferred triggers before it counts', async () => {
      await pg.admin(
        `CREATE CONSTRAINT TRIGGER late AFTER INSERT ON tickets DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()`,
      );
      try {
        const record = recordOf(await dryRun(`INSERT INTO tickets (title) VALUES ('late')`));
        expect(record.sideEffects).toEqual([{ table: 'public.audit', inserted: 1, updated: 0, deleted: 0 }]);
      } finally {
        await pg.admin('DROP TRIGGER late ON tickets');
      }
    });
  });

  describe('a dry run that is refused', () => {
    it.each([
      ['a violated constraint', 'UPDATE orders SET total = -1 WHERE id = 1', '23514'],
      ['a duplicate key', `INSERT INTO customers VALUES (1, 'x')`, '23505'],
      ['an unknown column', 'UPDATE orders SET nothing = 1', '42703'],
      ['a missing privilege', 'SELECT * FROM secrets', '42501'],
      ['writing the marker', `INSERT INTO countersign.marker (change_id) VALUES ('x')`, 'belongs to Countersign'],
    ])('returns %s as a result, without text of the diff or of rows in its explanation', async (_, sql, says) => {
      const staged = await dryRun(sql);
      expect(staged).toEqual({ kind: 'rejected', explanation: expect.stringContaining(says) });
      expect(JSON.stringify(staged)).not.toContain('nothing');
    });

    it.each([
      ['UPDATE orders SET total = 0; COMMIT; DELETE FROM orders', 'statement 2 (COMMIT)'],
      ['BEGIN; DELETE FROM orders', 'statement 1 (BEGIN)'],
      [`SET LOCAL statement_timeout = 0; DELETE FROM orders`, 'statement 1 (VARIABLESET)'],
      [`COPY orders TO PROGRAM 'cat'`, 'statement 1 (COPY)'],
      [`NOTIFY channel`, 'statement 1 (NOTIFY)'],
    ])('does not send any statement of: %s', async (sql, place) => {
      const staged = await dryRun(sql);
      expect(staged).toMatchObject({ kind: 'rejected' });
      expect(staged.kind === 'rejected' && staged.explanation).toContain(place);
    });

    it.each([
      ['invalid UTF-8', new Uint8Array([0xff, 0xfe])],
      ['a NUL', 'SELECT 1 \0; DROP TABLE orders'],
      ['no statement', ' -- nothing'],
      ['invalid SQL', 'UPDATE orders SET'],
    ])('rejects %s', async (_, text) => {
      const ctx = stageContext(pg.stageUrl, '');
      expect(await stage({ ...ctx, diff: diffOf(text) })).toMatchObject({ kind: 'rejected' });
    });

    const SLOW = 'SELECT count(*) FROM generate_series(1, 200000000)';

    it('is not retried after a statement timeout, and leaves no lock', async () => {
      const slow = () => dryRun(`UPDATE orders SET total = 0 WHERE id = 1; ${SLOW}`, { statementTimeoutMs: 200 });
      expect(await answered(slow)).toMatchObject({
        kind: 'rejected',
        explanation: expect.stringMatching(/57014.*submit the change again/),
      });
      await pg.admin(`SET lock_timeout = '15s'; UPDATE orders SET total = total WHERE id = 1; RESET lock_timeout`);
    });

    it('takes at most the time of the whole rehearsal, over all statements', async () => {
      const staged = await dryRun(
        Array.from({ length: 20 }, () => 'SELECT count(*) FROM generate_series(1, 2000000)').join(';'),
        {
          rehearsalTimeoutMs: 1_000,
        },
      );
      expect(staged).toMatchObject({ kind: 'rejected', explanation: expect.stringMatching(/longer than/) });
      await pg.until(
        `SELECT WHERE NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name LIKE 'countersign%' AND state = 'active' AND pid <> pg_backend_pid())`,
      );
    });

    it('is not retried if rows are locked by others, and waits at most 500 ms', async () => {
      await pg.admin('BEGIN; UPDATE orders SET total = total WHERE id = 1');
      try {
        expect(await dryRun('UPDATE orders SET total = 0 WHERE id = 1', { lockTimeoutMs: 60_000 })).toMatchObject({
          kind: 'rejected',
          explanation: expect.stringMatching(/another session has locked.*55P03/),
        });
      } finally {
        await pg.admin('ROLLBACK');
      }
      // Half of the lock timeout.
    }, 30_000);

    it('fails with a retryable error if the target is down, and with a permanent one if the password is wrong', async () => {
      const down = Object.assign(new URL(pg.stageUrl), { port: '1' }).href;
      await expect(stage(stageContext(down, 'SELECT 1'))).rejects.toMatchObject({
        type: 'TARGET_UNAVAILABLE',
        nonRetryable: false,
      });
      const wrong = Object.assign(new URL(pg.stageUrl), { password: 'wrong' }).href;
      const failure = await stage(stageContext(wrong, 'SELECT 1')).catch((e: unknown) => e);
      expect(failure).toMatchObject({ type: 'CONFIGURATION_ERROR', nonRetryable: true });
      expect(String(failure)).not.toContain('wrong');
    });

    it('stops immediately when it is cancelled', async () => {
      const abort = new AbortController();
      const running = stage(stageContext(pg.stageUrl, SLOW, { signal: abort.signal }));
      await pg.until(
        `SELECT FROM pg_stat_activity WHERE application_name LIKE 'countersign %' AND query LIKE '%200000000%' AND pid <> pg_backend_pid()`,
      );
      abort.abort();
      await expect(running).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE' });
    });

    it('reports the invalid setting', async () => {
      await expect(dryRun('SELECT 1', { statementTimeoutMs: 'long' })).rejects.toMatchObject({
        type: 'CONFIGURATION_ERROR',
        message: expect.stringContaining('statementTimeoutMs'),
      });
    });
  });
});
