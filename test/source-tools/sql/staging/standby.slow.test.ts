import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres, type PostgresServer } from '../../../../dev/embedded/postgres';
import { query } from '../../../../dev/query';
import { sqlDryRunEffects } from '../../../../source-tools/sql/staging';
import { initTarget } from '../../../../source-tools/sql/staging/init-target';
import { initialData } from '../../../support/initial-data';
import { TARGET_ROLES } from './target-server';
import { commitContext, notKept, stageContext } from './sql-context';
import { recordOf } from '../../../support/staged-change';

const { stage, commit, seal } = sqlDryRunEffects;
const PASSWORDS = { stage: 'stage-password', commit: 'commit-password' };
const stateDir = mkdtempSync(join(tmpdir(), 'countersign-standby-'));
jest.setTimeout(120_000);

let server: PostgresServer | null = null;
async function start(): Promise<PostgresServer> {
  server = await startEmbeddedPostgres({ stateDir, say: () => {}, fast: true });
  return server;
}
afterAll(async () => {
  await server?.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

const roleOf = (of: PostgresServer, role: 'stage' | 'commit'): string =>
  Object.assign(new URL(of.superuserUrl('shop')), { username: TARGET_ROLES[`${role}Role`], password: PASSWORDS[role] })
    .href;

it('fails with TARGET_UNAVAILABLE, which is retried, while the server is a standby, and applies the change after its promotion', async () => {
  // The user that PostgreSQL runs as must be able to traverse it.
  chmodSync(stateDir, 0o711);
  await initialData(stateDir);
  const primary = await start();
  await primary.createDatabase('shop');
  await query(primary.superuserUrl('shop'), 'create table items as select 1 as id, 1 as n');
  await initTarget(primary.superuserUrl('shop'), { ...TARGET_ROLES, passwords: PASSWORDS, schemas: ['public'] });
  const staged = notKept(stageContext(roleOf(primary, 'stage'), 'update items set n = 2 where id = 1'));
  const record = recordOf(await stage(staged));
  await primary.stop();

  writeFileSync(join(primary.dataDir ?? '', 'standby.signal'), '');
  const standby = await start();
  const context = commitContext(staged, roleOf(standby, 'commit'), record);
  const unavailable = { type: 'TARGET_UNAVAILABLE', nonRetryable: false, message: expect.stringContaining('standby') };
  await expect(commit(context)).rejects.toMatchObject(unavailable);
  await expect(seal(context)).rejects.toMatchObject(unavailable);

  await query(standby.superuserUrl('postgres'), 'select pg_promote()');
  expect(await commit(context)).toMatchObject({ kind: 'applied', replayed: false });
  expect(await seal(context)).toMatchObject({ found: true });
});
