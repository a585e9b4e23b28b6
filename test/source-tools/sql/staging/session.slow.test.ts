import { connect, createServer, type Socket } from 'node:net';
import { listenOnReusablePort } from '../../../support/listening-port';
import { openSession, type Session } from '../../../../source-tools/sql/staging/session';
import { toSqlSettings } from '../../../../source-tools/sql/staging-settings';
import { useTarget } from './target-server';

const pg = useTarget(
  'CREATE TABLE t (id int PRIMARY KEY, x int); INSERT INTO t SELECT g, 0 FROM generate_series(1, 5) g',
  { alone: true },
);

const open = (more: object = {}, url = pg.stageUrl): Promise<Session> =>
  openSession({
    url,
    changeId: 'test',
    settings: toSqlSettings({ statementTimeoutMs: 10_000, ...more }),
  });
/** Server processes end some time after the client has closed its connection. */
const noneLeft = () =>
  pg.until(`SELECT WHERE NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name LIKE 'countersign test%')`);

describe('a session', () => {
  it('sends a text as one statement, so that the server rejects a second command and nothing changes', async () => {
    const before = await pg.checksum('t');
    for (const text of [
      'UPDATE t SET x = 1; COMMIT; DELETE FROM t',
      'UPDATE t SET x = 1; DELETE FROM t',
      'COMMIT; SELECT 1',
    ]) {
      const session = await open();
      await expect(session.run({ text })).rejects.toMatchObject({
        code: '42601',
        message: expect.stringContaining('multiple commands'),
      });
      await session.close();
    }
    expect(await pg.checksum('t')).toBe(before);
  });

  it('always rolls back and closes its connection', async () => {
    const before = await pg.checksum('t');
    const session = await open();
    await session.run({ text: 'UPDATE t SET x = 1' });
    await session.close();
    const failed = await open();
    await failed.run({ text: 'SELECT 1 / 0' }).catch(() => undefined);
    await failed.close();
    const killed = await open();
    await pg.admin(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'countersign test' AND datname = current_database()`,
    );
    await killed.close();
    expect(await pg.checksum('t')).toBe(before);
    await noneLeft();
  });

  it('passes rows on one by one as the server’s text', async () => {
    const session = await open();
    const rows: unknown[] = [];
    const result = await session.run({
      text: `SELECT 9007199254740993, '2026-01-01'::date, '{"a": 1.0}'::jsonb, NULL, true FROM t`,
      onRow: (row) => rows.push(row),
    });
    expect(result).toEqual({ command: 'SELECT', rowCount: 5 });
    expect(rows[0]).toEqual(['9007199254740993', '2026-01-01', '{"a": 1.0}', null, 't']);
    await session.close();
  });

  it('returns ROLLBACK for COMMIT if the transaction had failed', async () => {
    const session = await open();
    await session.run({ text: 'SELECT 1 / 0' }).catch(() => undefined);
    expect(await session.commit()).toBe('ROLLBACK');
    await session.close();
  });

  it('stops waiting for a server that does not respond, and terminates its process', async () => {
    const session = await open({ statementTimeoutMs: 2_000 });
    await session.rows(`SELECT set_config('statement_timeout', '0', true)`);
    await expect(session.run({ text: 'SELECT pg_sleep(100)' })).rejects.toThrow('no response within 4000 ms');
    await session.close();
    await noneLeft();
  });

  it('stops waiting for a server that does not close the connection', async () => {
    const sockets: Socket[] = [];
    const isGoodbye = (chunk: Buffer): boolean => chunk[0] === 'X'.charCodeAt(0);
    const silent = createServer({ allowHalfOpen: true }, (client) => {
      const upstream = connect(pg.server.port, '127.0.0.1');
      sockets.push(client, upstream);
      client.on('data', (chunk) => !isGoodbye(chunk) && upstream.write(chunk)).on('error', () => {});
      upstream.on('data', (chunk) => client.write(chunk)).on('error', () => {});
    });
    const port = await listenOnReusablePort(silent);
    try {
      const session = await open({}, Object.assign(new URL(pg.stageUrl), { hostname: '127.0.0.1', port }).href);
      await session.close();
    } finally {
      for (const socket of sockets) socket.destroy();
      silent.close();
    }
    await noneLeft();
  });

  it('does not start if it was cancelled before', async () => {
    await expect(
      openSession({
        url: pg.stageUrl,
        changeId: 'test',
        settings: toSqlSettings({}),
        signal: AbortSignal.abort(),
      }),
    ).rejects.toThrow('cancelled');
  });

  it('leaves nothing of one transaction to the next, and keeps its name and its process', async () => {
    await pg.admin(`CREATE SEQUENCE ahead CACHE 10; GRANT USAGE ON SEQUENCE ahead TO countersign_stage`);
    await pg.admin(`GRANT TEMPORARY ON DATABASE ${new URL(pg.stageUrl).pathname.slice(1)} TO countersign_stage`);
    const session = await open();
    const state = async (): Promise<unknown> => [
      await session.rows(`SELECT count(*) FROM pg_prepared_statements WHERE name <> ''`),
      await session.rows(`SELECT count(*) FROM pg_cursors WHERE name <> ''`),
      await session.rows('SELECT count(*) FROM pg_listening_channels()'),
      await session.rows(`SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'`),
      await session.rows(`SELECT to_regclass('pg_temp.scratch')`),
      await session.rows(
        `SELECT current_setting('my.mark', true), current_setting('work_mem'), current_setting('role')`,
      ),
      await session.rows(`SELECT current_setting('TimeZone'), current_setting('search_path')`),
      await session.rows(`SELECT application_name, pid FROM pg_stat_activity WHERE pid = pg_backend_pid()`),
    ];
    const before = await state();
    for (const text of [
      'PREPARE p AS SELECT 1',
      'DECLARE c CURSOR WITH HOLD FOR SELECT 1',
      'LISTEN c',
      'SELECT pg_advisory_lock(7)',
      'CREATE TEMPORARY TABLE scratch ()',
      `SELECT set_config('work_mem', '77MB', false), set_config('TimeZone', 'Asia/Tokyo', false), set_config('search_path', 'x', false)`,
    ])
      await session.run({ text });
    expect((await session.rows(`SELECT nextval('public.ahead')`))[0]).toEqual(['1']);
    expect(await state()).not.toEqual(before);
    // Some state outlives a transaction only if it commits.
    expect(await session.commit()).toBe('COMMIT');
    await session.begin(toSqlSettings({ statementTimeoutMs: 10_000 }));
    expect(await state()).toEqual(before);
    await expect(session.rows('SELECT lastval()')).rejects.toMatchObject({ code: '55000' });
    await session.rollback();
    await session.begin(toSqlSettings({}));
    expect((await session.rows(`SELECT nextval('ahead')`))[0]).toEqual(['11']);
    await session.close();
  });

  it('gives each transaction its own settings', async () => {
    const session = await open();
    const shown = async () =>
      (await session.rows(`SELECT current_setting('statement_timeout'), current_setting('search_path'), now()`))[0] ??
      [];
    const [timeout, path, first] = await shown();
    expect([timeout, path]).toEqual(['10s', 'public']);
    await session.rollback();
    await session.begin(toSqlSettings({ statementTimeoutMs: 777, searchPath: ['public', 'pg_temp'] }));
    const [laterTimeout, laterPath, second] = await shown();
    expect([laterTimeout, laterPath]).toEqual(['777ms', 'public, pg_temp']);
    expect(second).not.toBe(first);
    await expect(session.rows('SELECT pg_sleep(20)')).rejects.toMatchObject({ code: '57014' });
    await session.close();
  });

  it('never compiles a query, whatever the role has', async () => {
    await pg.admin('ALTER ROLE countersign_stage SET jit = on; ALTER ROLE countersign_stage SET jit_above_cost = 0');
    const session = await open();
    expect(await session.rows('SHOW jit')).toEqual([['off']]);
    await session.rollback();
    await session.begin(toSqlSettings({}));
    expect(await session.rows('SHOW jit')).toEqual([['off']]);
    await session.close();
  });

  it('does not begin another transaction before the first has ended, or after it was abandoned', async () => {
    const session = await open();
    await expect(session.begin(toSqlSettings({}))).rejects.toMatchObject({ code: '25001' });
    await session.rollback();
    await session.abandon();
    await expect(session.begin(toSqlSettings({}))).rejects.toThrow('the session was abandoned');
    await session.close();
    await noneLeft();
  });

  it('sends no statement outside of a transaction', async () => {
    const before = await pg.checksum('t');
    const session = await open();
    await session.rollback();
    await expect(session.run({ text: 'UPDATE t SET x = 1' })).rejects.toThrow('outside of a transaction');
    await expect(session.rows('UPDATE t SET x = 1 RETURNING x')).rejects.toThrow('outside of a transaction');
    await session.begin(toSqlSettings({}));
    expect(await session.commit()).toBe('COMMIT');
    await expect(session.run({ text: 'UPDATE t SET x = 1' })).rejects.toThrow('outside of a transaction');
    await session.close();
    expect(await pg.checksum('t')).toBe(before);
  });
});
