import { Client } from 'pg';
import { describeTarget } from '../../../../source-tools/sql/staging/describe-target';
import { scramVerifier } from '../../../../source-tools/sql/staging/scram';
import { initTarget } from '../../../../source-tools/sql/staging/init-target';
import { startTargetServer, stopTargetServersAtEnd, TARGET_ROLES, type TargetServer } from './target-server';

let pg: TargetServer;
const passwords = { stage: 'stage-password', commit: 'commit-password' };
const init = (options: Partial<Parameters<typeof initTarget>[1]> = {}): Promise<readonly string[]> =>
  initTarget(pg.adminUrl, { ...TARGET_ROLES, passwords, schemas: [], ...options });

stopTargetServersAtEnd();
beforeAll(async () => {
  pg = await startTargetServer({ alone: true });
  await pg.admin(`CREATE SCHEMA app; CREATE TABLE app.one (id serial PRIMARY KEY); CREATE SCHEMA other; CREATE TABLE other.two (id int PRIMARY KEY);
    CREATE TABLE public.keyless (x int); CREATE TABLE public.later (id int PRIMARY KEY)`);
});

async function as(url: string, sql: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } catch (error) {
    return (error as { code?: string }).code;
  } finally {
    await client.end();
  }
}

describe('initTarget', () => {
  it('grants only the tables of the named schemas, also when it runs again', async () => {
    for (let i = 0; i < 2; i++) await init({ schemas: ['app'] });
    for (const url of [pg.stageUrl, pg.commitUrl]) {
      expect(await as(url, 'INSERT INTO app.one DEFAULT VALUES')).toEqual([]);
      expect(await as(url, 'SELECT FROM other.two')).toBe('42501');
      expect(await as(url, 'CREATE TABLE app.mine (id int)')).toBe('42501');
      expect(await as(url, 'CREATE TABLE public.mine (id int)')).toBe('42501');
      expect(await as(url, 'TRUNCATE app.one')).toBe('42501');
      expect(await as(url, `SELECT setval('app.one_id_seq', 1)`)).toBe('42501');
      expect(await as(url, `SELECT pg_read_file('PG_VERSION')`)).toBe('42501');
      expect(await as(url, `COPY app.one TO PROGRAM 'true'`)).toBe('42501');
      expect(await as(url, `SELECT lo_export(1, '/tmp/x')`)).toBe('42501');
      expect(await as(url, 'CREATE ROLE other')).toBe('42501');
    }
  });

  it('sets up several databases of a server, whose roles are the same, at the same time', async () => {
    const names = ['one', 'two', 'three', 'four'];
    for (const name of names) await pg.server.createDatabase(name);
    const urls = names.map((name) => pg.server.superuserUrl(name));
    for (let i = 0; i < 5; i++) {
      const all = urls.map((url) => initTarget(url, { ...TARGET_ROLES, passwords, schemas: ['public'] }));
      expect(await Promise.allSettled(all)).toEqual(Array(4).fill({ status: 'fulfilled', value: expect.any(Array) }));
    }
  });

  it('lets the commit role insert a marker, hides the table from the stage role, and lets neither delete one', async () => {
    expect(await as(pg.stageUrl, 'SELECT FROM countersign.marker')).toBe('42501');
    expect(await as(pg.commitUrl, `INSERT INTO countersign.marker (change_id) VALUES ('a')`)).toEqual([]);
    expect(await as(pg.commitUrl, `DELETE FROM countersign.marker`)).toBe('42501');
    expect(await as(pg.commitUrl, `UPDATE countersign.marker SET change_id = 'b'`)).toBe('42501');
    expect(await as(pg.commitUrl, `UPDATE countersign.marker SET effect = '{"a": 1}'`)).toEqual([]);
    expect(await as(pg.commitUrl, `UPDATE countersign.marker SET effect = '{"a": 2}'`)).toBe('23000');
  });

  it('covers tables that the administrator creates later in a granted schema', async () => {
    await init({ schemas: ['public'] });
    await pg.admin('CREATE TABLE public.newer (id int PRIMARY KEY)');
    expect(await as(pg.stageUrl, 'SELECT FROM public.newer')).toEqual([]);
  });

  it('sets a new password on the next run, and stores none in plain text', async () => {
    await init({ passwords: { ...passwords, stage: 'another-password' } });
    expect(await describeTarget(pg.stageUrl, 'stage')).toEqual([
      { level: 'fail', text: expect.stringContaining('28P01') },
    ]);
    const [row] = await pg.admin(`SELECT rolpassword FROM pg_authid WHERE rolname = 'countersign_stage'`);
    expect(row?.['rolpassword']).toMatch(/^SCRAM-SHA-256\$/);
    expect(scramVerifier('a password')).toMatch(/^SCRAM-SHA-256\$4096:/); // the plain password is not sent either
    await init();
  });

  it('refuses a role with too many privileges, equal role names, and invalid names', async () => {
    await expect(init({ stageRole: 'postgres' })).rejects.toThrow('too many privileges');
    await pg.admin('CREATE ROLE helper; GRANT pg_read_server_files TO helper');
    await expect(init({ commitRole: 'helper' })).rejects.toThrow('member of another role');
    await pg.admin('CREATE ROLE owner; CREATE TABLE app.owned (); ALTER TABLE app.owned OWNER TO owner');
    await expect(init({ stageRole: 'owner' })).rejects.toThrow('owner of objects');
    await expect(init({ commitRole: 'countersign_stage' })).rejects.toThrow('different names');
    await expect(init({ schemas: [''] })).rejects.toThrow('must not be empty');
    await expect(init({ passwords: { stage: 'short', commit: 'x' } })).rejects.toThrow('8 to 200');
  });
});

describe('describeTarget', () => {
  it('finds no problem after target init, but lists tables without a primary key', async () => {
    const stage = await describeTarget(pg.stageUrl, 'stage');
    const commit = await describeTarget(pg.commitUrl, 'commit');
    expect(stage).toContainEqual({ level: 'ok', text: expect.stringMatching(/^PostgreSQL 18\./) });
    expect([...stage, ...commit].filter((l) => l.level === 'fail')).toEqual([]);
    expect(stage).toContainEqual({ level: 'warn', text: expect.stringContaining('public.keyless') });
    expect(commit).toContainEqual({ level: 'ok', text: 'the marker table exists' });
  });

  it('reports roles with too many or too few privileges', async () => {
    const text = async (url: string, purpose: 'stage' | 'commit') =>
      (await describeTarget(url, purpose))
        .filter((l) => l.level === 'fail')
        .map((l) => l.text)
        .join('\n');
    expect(await text(pg.adminUrl, 'stage')).toMatch(/is a superuser[^]*outside the database with: [^]*pg_read_file/);
    expect(await text(pg.stageUrl, 'commit')).toContain('cannot write the marker table');
    expect(await text(pg.commitUrl, 'stage')).toContain('can write the marker table; use another role');
    await pg.admin('REVOKE SELECT ON public.later FROM countersign_stage');
    expect(await text(pg.stageUrl, 'stage')).toContain('public.later');
    expect(await text(Object.assign(new URL(pg.stageUrl), { port: '1' }).href, 'stage')).toContain('ECONNREFUSED');
  });
});
