import { createServer, connect as connectTo, type AddressInfo } from 'node:net';
import { canonicalJson } from '../../../../policy/contracts/canonical-json';
import type { CommitContext, StageContext } from '../../../../policy/contracts/target-effects';
import { sqlDryRunEffects } from '../../../../source-tools/sql/staging';
import { openSession, type Session } from '../../../../source-tools/sql/staging/session';
import { toSqlSettings } from '../../../../source-tools/sql/staging-settings';
import { commitContext, notKept, stageContext } from './sql-context';
import { recordOf } from '../../../support/staged-change';
import { onEachServer, type TargetServer } from './target-server';
import { startProxy } from './tcp-proxy';

const { stage, commit } = sqlDryRunEffects;

/** State of a session that a statement could leave. */
const STATE = [
  `SELECT count(*) FROM pg_prepared_statements WHERE from_sql`,
  `SELECT count(*) FROM pg_cursors WHERE name <> ''`,
  'SELECT count(*) FROM pg_listening_channels()',
  `SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'`,
  `SELECT session_user, current_user, current_setting('role'), current_schemas(true)`,
  // Every setting, also those of the transaction, the search path and the name.
  `SELECT name, setting FROM pg_settings ORDER BY name`,
];

/** Statements that leave state. None of them is ever rehearsed. */
const LEAVING = [
  'DECLARE c CURSOR WITH HOLD FOR SELECT 1',
  'LISTEN c',
  'SELECT pg_advisory_lock(7), pg_advisory_lock_shared(8)',
  'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE',
  'SET ROLE countersign_stage',
  `SELECT set_config('work_mem', '77MB', false), set_config('TimeZone', 'Asia/Tokyo', false),
     set_config('search_path', 'x, public', false), set_config('application_name', 'x', false),
     set_config('plan_cache_mode', 'force_custom_plan', false)`,
];

onEachServer((use) => {
  const pg = use(`
      CREATE TABLE items (id int PRIMARY KEY, name text, n int);
      CREATE TABLE marked (id int PRIMARY KEY, name text);
      CREATE SEQUENCE ahead CACHE 10;
      INSERT INTO items SELECT g, 'item', g FROM generate_series(1, 50) g;
      INSERT INTO marked SELECT g, 'item' FROM generate_series(1, 50) g;
      CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM set_config('my.mark', 'left', false), set_config('work_mem', '77MB', false), pg_advisory_lock(7); RETURN NEW; END $$;
      CREATE TRIGGER leave BEFORE UPDATE ON marked FOR EACH ROW EXECUTE FUNCTION leave()`);
  beforeAll(async () => {
    await pg.admin(`GRANT TEMPORARY ON DATABASE ${new URL(pg.stageUrl).pathname.slice(1)} TO countersign_stage`);
  });

  let inUse: AbortController;
  beforeEach(() => {
    inUse = new AbortController();
  });
  afterEach(async () => {
    inUse.abort();
    await Promise.all(opened.splice(0).map((session) => session.close()));
    await none();
  });

  const none = () =>
    pg.until(`SELECT WHERE NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name LIKE 'countersign%')`);
  const opened: Session[] = [];
  const open = async (more: Partial<Parameters<typeof openSession>[0]> = {}): Promise<Session> => {
    const options = { url: pg.stageUrl, changeId: 'test', settings: toSqlSettings({}), inUse: inUse.signal, ...more };
    const session = await openSession(options);
    opened.push(session);
    return session;
  };
  const processOf = async (session: Session) => (await session.rows('SELECT pg_backend_pid()'))[0]?.[0];
  const stateOf = async (session: Session): Promise<unknown> => {
    const out: unknown[] = [];
    for (const query of STATE) out.push(await session.rows(query));
    return out;
  };
  /** Server processes of both roles. */
  const processes = async () =>
    (
      await pg.admin(
        `SELECT usename || ' ' || pid AS p FROM pg_stat_activity WHERE usename IN ('countersign_stage', 'countersign_commit') ORDER BY 1`,
      )
    ).map(({ p }) => p);
  const change = (sql: string): StageContext => stageContext(pg.stageUrl, sql, { inUse: inUse.signal });
  const committed = async (ctx: StageContext, more: Partial<CommitContext> = {}) =>
    commit(commitContext(ctx, pg.commitUrl, recordOf(await stage(ctx)), more));
  let value = 0;
  const update = (id = 1): string => `UPDATE items SET name = 'v${++value}' WHERE id = ${id}`;

  describe('a kept connection', () => {
    it('serves the dry runs and the commits of later changes, each role with its own', async () => {
      expect(await committed(change(update()))).toMatchObject({ kind: 'applied' });
      const first = await processes();
      expect(first).toHaveLength(2);
      for (let i = 0; i < 8; i++) expect(await committed(change(update()))).toMatchObject({ kind: 'applied' });
      expect(await processes()).toEqual(first);
    });

    it('serves one change at a time', async () => {
      const results = await Promise.all([1, 2, 3].map((id) => committed(change(update(id)))));
      expect(results.map(({ kind }) => kind)).toEqual(['applied', 'applied', 'applied']);
      const [one, two] = await Promise.all([open(), open()]);
      expect(await processOf(one)).not.toBe(await processOf(two));
      await one.close();
      await two.close();
    });

    it('is idle, without a transaction and without the name of a change', async () => {
      await committed(change(update()));
      expect(
        await pg.admin(
          `SELECT DISTINCT application_name, state, xact_start, backend_xmin FROM pg_stat_activity WHERE usename LIKE 'countersign\\_%'`,
        ),
      ).toEqual([{ application_name: 'countersign', state: 'idle', xact_start: null, backend_xmin: null }]);
    });

    it('has the settings and the state of a new one, whatever ran on it before', async () => {
      const first = await open();
      const [before, process] = [await stateOf(first), await processOf(first)];
      for (const text of LEAVING) await first.run({ text });
      expect((await first.rows(`SELECT nextval('public.ahead')`))[0]).toEqual(['1']);
      expect(await stateOf(first)).not.toEqual(before);
      expect(await first.commit()).toBe('COMMIT');
      await first.release();
      const second = await open();
      expect(await processOf(second)).toBe(process);
      expect(await stateOf(second)).toEqual(before);
      expect((await second.rows(`SELECT nextval('public.ahead')`))[0]).toEqual(['11']);
      await second.rollback();
      await second.release();
      const third = await open();
      expect(await processOf(third)).toBe(process);
      await expect(third.rows('SELECT lastval()')).rejects.toMatchObject({ code: '55000' });
      await third.close();
    });

    it('has other settings and another name for another change', async () => {
      const shown = (session: Session) =>
        session.rows(
          `SELECT current_setting('application_name'), current_setting('statement_timeout'), current_schemas(false)`,
        );
      const first = await open();
      expect(await shown(first)).toEqual([['countersign test', '5s', '{public}']]);
      await first.rollback();
      await first.release();
      const settings = toSqlSettings({ statementTimeoutMs: 777, searchPath: ['public', 'pg_catalog'] });
      const second = await open({ changeId: 'other', settings });
      expect(await shown(second)).toEqual([['countersign other', '777ms', '{public,pg_catalog}']]);
      await second.close();
    });

    it('gives the same records as new ones, also if a table or a function has changed in between', async () => {
      await pg.admin(`CREATE TABLE typed (id int PRIMARY KEY, n int, twice int);
        INSERT INTO typed SELECT g, g FROM generate_series(1, 50) g;
        CREATE FUNCTION twice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.twice := NEW.n * 2; RETURN NEW; END $$;
        CREATE TRIGGER twice BEFORE UPDATE ON typed FOR EACH ROW EXECUTE FUNCTION twice()`);
      await pg.grant();
      for (const ddl of [
        'SELECT 1',
        'ALTER TABLE typed ALTER n TYPE bigint USING n + 1000000',
        `CREATE OR REPLACE FUNCTION twice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.twice := 3; RETURN NEW; END $$`,
        'ALTER TABLE typed DROP CONSTRAINT typed_pkey',
        'ALTER TABLE typed RENAME n TO m; ALTER TABLE typed ADD n text',
        'ALTER TABLE typed ENABLE ROW LEVEL SECURITY; CREATE POLICY mine ON typed USING (id <> 3)',
        'DROP TRIGGER twice ON typed',
      ]) {
        await pg.admin(ddl);
        const kept = change(`UPDATE typed SET id = id + 0 WHERE id IN (2, 3); ${update(2)}`);
        const records = [await stage(kept), await stage(notKept(kept))].map((staged) =>
          canonicalJson(recordOf(staged)),
        );
        expect(records[0]).toBe(records[1]);
        const result = await commit(commitContext(kept, pg.commitUrl, recordOf(await stage(kept))));
        expect([ddl, result.kind]).toEqual([ddl, 'applied']);
      }
      expect(await processes()).toHaveLength(2);
    });
  });

  describe('a connection is not kept', () => {
    /** Whether the next session has the same server process. */
    async function isKept(use: (session: Session) => Promise<unknown>, more: Partial<Parameters<typeof open>[0]> = {}) {
      const session = await open(more);
      const process = await processOf(session);
      await use(session);
      await session.release();
      const next = await open();
      const same = (await processOf(next)) === process;
      await next.close();
      return same;
    }

    it.each<readonly [string, boolean, (session: Session) => Promise<unknown>]>([
      ['unless its transaction has ended', false, async () => {}],
      ['after a rollback: it is', true, (s) => s.rollback()],
      ['after a commit: it is', true, (s) => s.commit()],
      ['after a statement failed', false, (s) => s.run({ text: 'SELECT 1 / 0' }).catch(() => s.rollback())],
      ['after a commit that rolled back', false, (s) => s.run({ text: 'SELECT 1 / 0' }).catch(() => s.commit())],
      ['if SQL prepared a statement', false, (s) => s.run({ text: 'PREPARE p AS SELECT 1' }).then(() => s.commit())],
      [
        'if it has a schema for temporary tables',
        false,
        (s) => s.run({ text: 'CREATE TEMPORARY TABLE scratch ()' }).then(() => s.commit()),
      ],
      ['if it was abandoned', false, (s) => s.abandon()],
      ['if it is closed', false, (s) => s.rollback().then(() => s.close())],
    ])('%s', async (_, expected, use) => {
      expect(await isKept(use)).toBe(expected);
    });

    it('after a statement took too long', async () => {
      const settings = toSqlSettings({ statementTimeoutMs: 500 });
      expect(await isKept((s) => s.run({ text: 'SELECT pg_sleep(20)' }).catch(() => s.rollback()), { settings })).toBe(
        false,
      );
    });

    it('after its change was cancelled, and a later cancellation does not reach the next change', async () => {
      const first = new AbortController();
      expect(
        await isKept(
          async (s) => {
            await s.rollback();
            first.abort();
          },
          { signal: first.signal },
        ),
      ).toBe(false);
      const second = new AbortController();
      const session = await open({ signal: second.signal });
      await session.rollback();
      await session.release();
      const next = await open();
      second.abort();
      await session.abandon();
      await expect(session.begin(toSqlSettings({}))).rejects.toThrow('abandoned');
      expect(await next.rows('SELECT 1')).toEqual([['1']]);
      await next.close();
    });

    it('if a pooler answers the login, because each transaction may then have another server process', async () => {
      const { url, stop } = await startPooler(pg);
      try {
        const session = await open({ url });
        await session.own('SELECT 1');
        expect(await session.rows(`SELECT count(*) FROM pg_prepared_statements WHERE name <> ''`)).toEqual([['0']]);
        await session.rollback();
        await session.release();
        await none();
        const ctx = { ...change(update()), target: { name: 'shop', url } };
        recordOf(await stage(ctx));
        await none();
      } finally {
        await stop();
      }
    });

    it('after the dry run of a change that the server rejects, or the commit of one that is stale', async () => {
      expect(await stage(change('UPDATE items SET id = 2 WHERE id = 1'))).toMatchObject({ kind: 'rejected' });
      expect(await stage(change(`UPDATE countersign.marker SET effect = NULL`))).toMatchObject({ kind: 'rejected' });
      expect(await processes()).toEqual([]);
      const ctx = change(update());
      const record = recordOf(await stage(ctx));
      await pg.admin(`UPDATE items SET n = n + 1 WHERE id = 1`);
      expect(await commit(commitContext(ctx, pg.commitUrl, record))).toMatchObject({ kind: 'stale' });
      expect(await processes()).toEqual([expect.stringContaining('countersign_stage ')]);
    });
  });

  describe('a change that is not rehearsed', () => {
    const NOT_REHEARSED = [
      `UPDATE items SET name = pg_backend_pid()::text || current_setting('my.mark', true) WHERE id = 1`,
      `UPDATE marked SET name = 'x' WHERE id = 1`, // by its trigger
      `INSERT INTO items SELECT 100, 'x', 1 FROM pg_settings LIMIT 0`,
    ];

    it.each(NOT_REHEARSED)('is committed on a new connection, which is closed: %s', async (sql) => {
      await committed(change(update()));
      const before = await processes();
      const ctx = change(sql);
      const record = recordOf(await stage(ctx));
      expect(record.reason).toBe('not_rehearsed');
      let during: unknown[] = [];
      const result = await commit(
        commitContext(ctx, pg.commitUrl, record, {
          postCheck: async () => {
            during = await processes();
            return { ok: true };
          },
        }),
      );
      expect(result).toMatchObject({ kind: 'applied' });
      expect(during).toHaveLength(3);
      await pg.until(
        `SELECT WHERE 2 = (SELECT count(*) FROM pg_stat_activity WHERE usename IN ('countersign_stage', 'countersign_commit'))`,
      );
      expect(await processes()).toEqual(before);
    });

    it('leaves nothing to the next change, even if its trigger sets and locks something in the session', async () => {
      await committed(change(`UPDATE marked SET name = 'y' WHERE id = 2`));
      const session = await open({ url: pg.commitUrl });
      expect(
        await session.rows(`SELECT current_setting('my.mark', true), current_setting('work_mem') <> '77MB'`),
      ).toEqual([[null, 't']]);
      await session.close();
      await pg.until(`SELECT WHERE NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory')`);
    });

    it('has the server’s own plan_cache_mode and the lock timeout of the plan in its statements', async () => {
      await committed(
        change(
          `UPDATE items SET name = current_setting('plan_cache_mode') || current_setting('lock_timeout') WHERE id = 5`,
        ),
      );
      expect(await pg.admin('SELECT name FROM items WHERE id = 5')).toEqual([{ name: 'auto1s' }]);
    });
  });

  describe('a kept connection that is dead', () => {
    it('is replaced by a new one, for the dry run and for the commit', async () => {
      const ctx = change(update());
      await committed(change(update()));
      const before = await processes();
      const killAll = () =>
        pg.admin(
          `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'countersign' AND datname = current_database()`,
        );
      await killAll();
      const record = recordOf(await stage(ctx));
      await killAll();
      expect(await commit(commitContext(ctx, pg.commitUrl, record))).toMatchObject({ kind: 'applied' });
      const after = await processes();
      expect(after.filter((process) => before.includes(process))).toEqual([]);
    });

    it('is replaced once if that shows only when the transaction begins', async () => {
      const proxy = await startProxy(pg.server.port, `'force_generic_plan', true)`);
      try {
        const url = proxy.url(pg.commitUrl);
        const context = async (sql: string) => {
          const ctx = change(sql);
          return commitContext(ctx, url, recordOf(await stage(ctx)));
        };
        expect(await commit(await context(update()))).toMatchObject({ kind: 'applied' });
        proxy.set('drop-once');
        expect(await commit(await context(update()))).toMatchObject({ kind: 'applied' });
        const next = await context('UPDATE items SET n = n + 1 WHERE id = 7');
        proxy.set('drop-before');
        await expect(commit(next)).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE', nonRetryable: false });
        proxy.set('pass');
        expect(await commit(next)).toMatchObject({ kind: 'applied', replayed: false });
        expect(await pg.admin('SELECT n FROM items WHERE id = 7')).toEqual([{ n: 8 }]);
      } finally {
        await proxy.stop();
      }
    });

    it.each([
      ['SET CONSTRAINTS ALL IMMEDIATE', 'unavailable'],
      ['COMMIT', 'unknown'],
    ])('does not make a change repeat what it has sent: %s', async (command, outcome) => {
      const before = await pg.admin('SELECT n FROM items WHERE id = 9');
      const proxy = await startProxy(pg.server.port, command);
      try {
        const url = proxy.url(pg.commitUrl);
        expect(await committed(change(update()), { target: { name: 'shop', url } })).toMatchObject({ kind: 'applied' });
        const ctx = change('UPDATE items SET n = n + 1 WHERE id = 9');
        const toCommit = commitContext(ctx, url, recordOf(await stage(ctx)));
        proxy.set('drop-before');
        const result = commit(toCommit);
        if (outcome === 'unknown') expect(await result).toMatchObject({ kind: 'unknown' });
        else await expect(result).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE', nonRetryable: false });
        expect(await pg.admin('SELECT n FROM items WHERE id = 9')).toEqual(before);
      } finally {
        await proxy.stop();
      }
    });
  });

  it('closes the connections when the process stops using its targets', async () => {
    await committed(change(update()));
    expect(await processes()).toHaveLength(2);
    inUse.abort();
    await none();
    expect(await committed(change(update()))).toMatchObject({ kind: 'applied' });
    await none();
  });

  it('keeps no connection for a caller that does not say until when', async () => {
    await committed(notKept(change(update())));
    await none();
  });
});

/** Passes everything on, but gives the client another process id at the login, as PgBouncer does. */
async function startPooler(pg: TargetServer) {
  const server = createServer((client) => {
    const upstream = connectTo(pg.server.port, '127.0.0.1');
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.pipe(upstream);
    let isKnown = false;
    upstream.on('data', (chunk: Buffer) => {
      const at = isKnown ? -1 : chunk.indexOf(Buffer.from([0x4b, 0, 0, 0, 12])); // BackendKeyData
      if (at !== -1) {
        isKnown = true;
        chunk.writeInt32BE(chunk.readInt32BE(at + 5) + 1, at + 5);
      }
      client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: Object.assign(new URL(pg.stageUrl), { hostname: '127.0.0.1', port: String(port) }).href,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
