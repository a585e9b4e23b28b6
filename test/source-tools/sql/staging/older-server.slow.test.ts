import { Client } from 'pg';
import { describeTarget } from '../../../../source-tools/sql/staging/describe-target';
import { initTarget } from '../../../../source-tools/sql/staging/init-target';
import { sqlCasEffects, sqlDryRunEffects } from '../../../../source-tools/sql/staging';
import { commitContext, diffOf, recordOf, stageContext } from './sql-diff';
import { olderPostgres, startOlderPostgres } from './older-server';

const older = olderPostgres();
const { stage, commit } = sqlDryRunEffects;

// A machine without an older PostgreSQL cannot run these.
(older === null ? describe.skip : describe)(`a PostgreSQL below 18 (${older?.version ?? 'none here'})`, () => {
  let server: Awaited<ReturnType<typeof startOlderPostgres>>;
  let admin: Client;
  let stageUrl: string;
  let commitUrl: string;

  beforeAll(async () => {
    server = await startOlderPostgres(older?.bin ?? '');
    admin = new Client({ connectionString: server.url });
    await admin.connect();
    await admin.query(`CREATE TABLE orders (id int PRIMARY KEY, status text, version int DEFAULT 1);
      INSERT INTO orders SELECT g, 'open' FROM generate_series(1, 10) g;
      CREATE TABLE parts (id int PRIMARY KEY, x text) PARTITION BY RANGE (id);
      CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (100); INSERT INTO parts VALUES (1, 'a'), (2, 'b')`);
    await initTarget(server.url, {
      passwords: { stage: 'stage-password', commit: 'commit-password' },
      grants: { schemas: ['public'] },
    });
    const as = (user: string) =>
      Object.assign(new URL(server.url), { username: user, password: 'trusted-anyway' }).href;
    stageUrl = as('countersign_stage');
    commitUrl = as('countersign_commit');
  });
  afterAll(async () => {
    await admin?.end();
    await server?.stop();
  });

  it('captures INSERT and DELETE in full', async () => {
    const record = recordOf(
      await stage(
        stageContext(
          stageUrl,
          `INSERT INTO orders VALUES (11, 'new'); DELETE FROM orders AS o WHERE o.id = 1 RETURNING o.id`,
        ),
      ),
    );
    expect(record).toMatchObject({
      tables: [{ table: 'public.orders', inserted: 1, deleted: 1, touchedSha: expect.any(String) }],
      fullyCaptured: true,
    });
  });

  it.each([
    [`UPDATE orders SET status = 'x' WHERE id <= 3`, { table: 'public.orders', inserted: 0, updated: 3 }],
    [
      `INSERT INTO orders VALUES (1, 'a'), (20, 'b') ON CONFLICT (id) DO UPDATE SET status = 'c'`,
      { table: 'public.orders', inserted: 1, updated: 1 },
    ],
    [`UPDATE parts SET x = 'z'`, { table: 'public.parts_low', updated: 2 }],
  ])('counts the rows of %s without a hash, and reports that they were not captured', async (sql, table) => {
    const record = recordOf(await stage(stageContext(stageUrl, sql)));
    expect(record).toMatchObject({ tables: [{ ...table, touchedSha: null }], sideEffects: [], fullyCaptured: false });
    expect(record.uncaptured[0]).toContain('does not support OLD and NEW in RETURNING (18 does)');
  });

  it('commits a confirmed change, and refuses it when the counts differ', async () => {
    const staged = stageContext(stageUrl, `UPDATE orders SET status = 'paid' WHERE id <= 3`);
    const record = recordOf(await stage(staged));
    await admin.query('DELETE FROM orders WHERE id = 3');
    expect(await commit(commitContext(staged, commitUrl, record))).toMatchObject({ kind: 'stale' });
    await admin.query(`INSERT INTO orders VALUES (3, 'open')`);
    expect(await commit(commitContext(staged, commitUrl, record))).toMatchObject({ kind: 'applied', replayed: false });
  });

  it('compares and sets rows', async () => {
    const rows = [
      { table: 'public.orders', key: { id: 5 }, expect: { version: 1 }, set: { status: 'cas', version: 2 } },
    ];
    const staged = { ...stageContext(stageUrl, ''), diff: diffOf(JSON.stringify({ rows }), 'SQLCAS') };
    const record = recordOf(await sqlCasEffects.stage(staged));
    expect(await sqlCasEffects.commit(commitContext(staged, commitUrl, record))).toMatchObject({ kind: 'applied' });
    expect(await sqlCasEffects.stage(staged)).toMatchObject({ kind: 'rejected' });
  });

  it('is reported by doctor', async () => {
    const { lines } = await describeTarget(stageUrl, 'stage');
    expect(lines[0]).toMatchObject({ level: 'warn', text: expect.stringContaining('does not support OLD and NEW') });
  });
});
