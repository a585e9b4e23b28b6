import { rehearse } from '../../../../source-tools/sql/staging/rehearse';
import { prepareSql } from './prepare-sql';
import { useTarget } from './target-server';
import { notKept, stageContext } from './sql-context';
import { recordOf } from '../../../support/staged-change';
import { startProxy } from './tcp-proxy';

const pg = useTarget(
  'CREATE TABLE t (id int PRIMARY KEY, x int, at timestamptz); INSERT INTO t SELECT g, 0, now() FROM generate_series(1, 5) g',
);

const DECLARED = { settings: { volatileColumns: ['public.t.at'] } };
const SQL = 'UPDATE t SET x = x + 1, at = clock_timestamp() WHERE id <= 2';

const prepareWith = (before: Parameters<typeof prepareSql>[1]) => prepareSql(SQL, before);

describe('the second dry run', () => {
  it('is enough if no other session changes the rows', async () => {
    const { prepare, runs } = await prepareWith(async () => {});
    expect(recordOf(await rehearse(stageContext(pg.stageUrl, SQL, DECLARED), prepare)).tables[0]).toMatchObject({
      volatileColumns: ['at'],
    });
    expect(runs()).toBe(2);
  });

  it('is followed by a third if another session changed a row in between, which does not make a column volatile', async () => {
    const { prepare, runs } = await prepareWith(
      async (run) => run === 2 && pg.admin('UPDATE t SET x = 10 WHERE id = 1'),
    );
    const record = recordOf(await rehearse(stageContext(pg.stageUrl, SQL, DECLARED), prepare));
    expect(runs()).toBe(3);
    expect(record).toMatchObject({
      tables: [{ volatileColumns: ['at'], touchedSha: expect.any(String) }],
      fullyCaptured: true,
    });
  });

  it('is not repeated more than once: if the rows change each time, the record is not fully captured', async () => {
    const { prepare, runs } = await prepareWith((run) => pg.admin(`UPDATE t SET x = ${run + 100} WHERE id = 1`));
    const record = recordOf(await rehearse(stageContext(pg.stageUrl, SQL, DECLARED), prepare));
    expect(runs()).toBe(3);
    expect(record).toMatchObject({
      tables: [{ updated: 2, touchedSha: null }],
      fullyCaptured: false,
      uncaptured: ['public.t: two dry runs did not change the same rows in the same way'],
    });
  });
});

describe('the connection of a dry run', () => {
  it('is the same for all runs, with the name of the change', async () => {
    const seen: unknown[] = [];
    const { prepare } = await prepareWith(async (run, session) => {
      const query = 'SELECT pid, application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()';
      seen.push((await session.rows(query))[0]);
      if (run === 2) await pg.admin('UPDATE t SET x = 10 WHERE id = 1');
    });
    const ctx = stageContext(pg.stageUrl, SQL, DECLARED);
    await rehearse(ctx, prepare);
    expect(seen).toEqual(
      Array.from({ length: 3 }, () => [expect.any(String), `countersign ${ctx.changeId.slice(0, 12)}`]),
    );
    expect(new Set(seen.map((row) => JSON.stringify(row))).size).toBe(1);
  });

  it.each([
    ['ROLLBACK', 'drop-before', 'new'],
    ['DISCARD ALL', 'drop-before', 'new'],
    ['DISCARD ALL', 'drop-after', 'new'],
    ['pg_my_temp_schema() <> 0', 'drop-before', 'kept'],
    ['pg_my_temp_schema() <> 0', 'drop-after', 'kept'],
  ] as const)(
    'is not used again if it is lost between two runs (%s, %s, a %s one): the dry run fails with a retryable error',
    async (command, mode, which) => {
      const proxy = await startProxy(Number(new URL(pg.stageUrl).port), command);
      try {
        proxy.set(mode);
        const before = await pg.checksum('t');
        const { prepare, runs } = await prepareWith(async () => {});
        const ctx = stageContext(proxy.url(pg.stageUrl), SQL, DECLARED);
        await expect(rehearse(which === 'kept' ? ctx : notKept(ctx), prepare)).rejects.toMatchObject({
          type: 'TARGET_UNAVAILABLE',
          nonRetryable: false,
        });
        expect(runs()).toBe(1);
        expect(await pg.checksum('t')).toBe(before);
      } finally {
        await proxy.stop();
      }
    },
  );

  it('is not used again after the time of the dry run is over', async () => {
    const { prepare, runs } = await prepareWith((run) =>
      run === 2 ? new Promise((done) => setTimeout(done, 6_000)) : Promise.resolve(),
    );
    const settings = { ...DECLARED.settings, rehearsalTimeoutMs: 5_000 };
    expect(await rehearse(stageContext(pg.stageUrl, SQL, { settings }), prepare)).toMatchObject({
      kind: 'rejected',
      explanation: expect.stringContaining('longer than 5000 ms'),
    });
    expect(runs()).toBe(2);
  });

  it('is closed and its process ended if the second run is cancelled, without a lock that remains', async () => {
    const abort = new AbortController();
    const { prepare } = await prepareWith(async (run) => run === 2 && abort.abort());
    const ctx = stageContext(pg.stageUrl, SQL, { ...DECLARED, signal: abort.signal });
    await expect(rehearse(ctx, prepare)).rejects.toMatchObject({ type: 'TARGET_UNAVAILABLE' });
    const name = `countersign ${ctx.changeId.slice(0, 12)}`;
    await pg.until(`SELECT WHERE NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name LIKE '${name}%')`);
  });

  it('has no locks of the first run in the second', async () => {
    const states: unknown[] = [];
    const { prepare } = await prepareWith(async (run, session) => {
      if (run === 1) return;
      states.push(
        await session.rows(
          `SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype IN ('tuple', 'transactionid')`,
        ),
      );
    });
    await rehearse(stageContext(pg.stageUrl, SQL, DECLARED), prepare);
    expect(states).toEqual([[['0']]]);
  });
});
