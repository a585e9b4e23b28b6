import { openSession, type Session } from '../../../../source-tools/sql/staging/session';
import { toSqlSettings } from '../../../../source-tools/sql/staging-settings';
import { startTargetServer, stopTargetServersAtEnd, type TargetServer } from './target-server';

let pg: TargetServer;
stopTargetServersAtEnd();
beforeAll(async () => {
  pg = await startTargetServer({ alone: true });
  await pg.admin('CREATE TABLE t (id int PRIMARY KEY, x int); INSERT INTO t SELECT g, 0 FROM generate_series(1, 5) g');
  await pg.grant();
});

const open = (more: object = {}): Promise<Session> =>
  openSession({
    url: pg.stageUrl,
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
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'countersign test'`,
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
    const session = await open({ statementTimeoutMs: 500 });
    await session.rows(`SELECT set_config('statement_timeout', '0', true)`);
    await expect(session.run({ text: 'SELECT pg_sleep(100)' })).rejects.toThrow('no response within 2500 ms');
    await session.close();
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
});
