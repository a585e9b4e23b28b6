import { checkCheckpoints } from '../../cli/doctor/checkpoints';
import { doctor } from '../../cli/doctor/doctor';
import { checkDatabase } from '../../cli/doctor/database';
import { checkDelivery } from '../../cli/doctor/notices';
import { openedClient } from '../../dev/query';
import { SETUP } from '../../cli/doctor/doctor-database';
import { checkPayloadKeys } from '../../cli/doctor/payload-keys';
import type { Role } from '../../storage/database/roles';
import { createLedger } from '../../storage/ledger/ledger';
import { localClient } from '../../workers/local-client';
import { useFreshDatabase } from '../support/postgres';
import { temporaryFolder } from './run-command';

const { path } = temporaryFolder();
const database = useFreshDatabase();

test('a check that cannot be done is a failure, the others are still done, and an approver may be missing only if links follow', async () => {
  await database.open('admin').query('drop table target_freezes');
  const env = {
    COUNTERSIGN_STATE_DIR: path('none'),
    COUNTERSIGN_DATABASE_URL: database.url('cs_gateway'),
    TEMPORAL_ADDRESS: '127.0.0.1:9',
  };
  const [checks, inviting] = await Promise.all([
    doctor(env, { offline: true }),
    doctor(env, { offline: true, inviting: true }),
  ]);
  expect(inviting.filter(({ ok }, i) => ok !== checks[i]?.ok).map(({ name }) => name)).toEqual(['approvers']);
  expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
    ['Node', true],
    ['trust', false],
    ['Temporal server', false],
    ['Countersign database', true],
    ['clock', true],
    ['role cs_gateway', false],
    ['approvers', false],
    ['policy', false],
    ['freezes', false],
  ]);
  expect(checks.at(-1)?.detail).toContain('target_freezes');
  expect(checks.find(({ name }) => name === 'role cs_gateway')).toMatchObject({
    detail: 'lacks target_freezes (select)',
    fix: expect.stringContaining('countersign setup') as string,
  });
});

test('a trust file that cannot be read is named, and hides no check that needs no trusted keys', async () => {
  const env = {
    COUNTERSIGN_STATE_DIR: path('none'),
    COUNTERSIGN_DATABASE_URL: database.url('cs_gateway'),
    COUNTERSIGN_TRUST_FILE: path('no-trust.json'),
    TEMPORAL_ADDRESS: '127.0.0.1:9',
  };
  const checks = await doctor(env, { offline: true });
  expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
    ['Node', true],
    ['configuration', false],
    ['Temporal server', false],
    ['Countersign database', true],
    ['clock', true],
    ['role cs_gateway', true],
  ]);
  expect(checks[1]?.detail).toContain('no-trust.json');
});

test('a database that only reads, as a standby does, is a failure: nothing can be submitted or answered there', async () => {
  await database.open('admin').query(`alter database ${database.name} set default_transaction_read_only = on`);
  const local = localClient({
    COUNTERSIGN_STATE_DIR: path('none'),
    COUNTERSIGN_DATABASE_URL: database.url('cs_gateway'),
  });
  const { checks } = await checkDatabase(local, [], { offline: true });
  expect(checks[0]).toMatchObject({
    name: 'Countersign database',
    ok: false,
    detail: expect.stringContaining('it only reads') as string,
    fix: expect.stringContaining('primary') as string,
  });
});

test('a transaction anywhere on the server that was open before a checkpoint of a quarter of an hour ago is named, with what ends it', async () => {
  const other = await openedClient(database.adminUrl.replace(database.name, 'postgres'));
  await other.query(`set application_name = 'nightly report'; begin; select pg_current_xact_id()`);
  const { rows } = await other.query<{ pid: number }>('select pg_backend_pid() as pid');
  const session = `session ${rows[0]?.pid} `;
  const made = async (size: number, minutesAgo: number): Promise<void> => {
    await database.open('admin').query(
      `insert into ledger_checkpoints (size, root_hash, envelope, frontier, max_seq, settled_seq, created_at)
       values ($1, '', '{}', '{}', $1, 0, now() - $2 * interval '1 minute')`,
      [size, minutesAgo],
    );
  };
  const found = async () =>
    (await checkCheckpoints(database.open('cs_gateway'))).filter(({ detail }) => detail.includes(session));
  try {
    await made(1, 14);
    expect(await found()).toEqual([]);
    await made(2, 16);
    expect(await found()).toMatchObject([
      {
        name: 'checkpoints',
        ok: false,
        detail: expect.stringMatching(
          /\(role postgres, database postgres, nightly report\) .* since before \d{4}-/,
        ) as string,
        fix: expect.stringContaining(`select pg_terminate_backend(${rows[0]?.pid})`) as string,
      },
    ]);
    await other.query('commit');
    expect(await found()).toEqual([]);
  } finally {
    await other.end();
  }
});

test('a process without a payload key that an open review is encrypted with is a failure, and keys of closed reviews are not needed', async () => {
  const db = database.open('admin');
  const at = new Date().toISOString();
  const opened = async (changeId: string, keyId: string): Promise<void> => {
    const submission = { tenant: 'acme', target: 'shop', sourceTool: 'SQLDryRun' };
    await createLedger(db).append(
      changeId,
      [{ kind: 'submitted', at, factKey: 'submitted', body: { submission, inputSha: changeId } }],
      { ...submission, inputSha: changeId, mode: 'enforced', openedAt: at },
    );
    await db.query(`insert into staging_records (change_id, staging_sha, record, preview) values ($1, $1, '{}', $2)`, [
      changeId,
      JSON.stringify({ stored: 'aes-256-gcm', keyId, nonce: '', data: '' }),
    ]);
  };
  await opened('a'.repeat(64), 'k1');
  await opened('b'.repeat(64), 'k0');
  const closed = async (changeId: string): Promise<void> => {
    const row = { kind: 'closed', at, factKey: 'closed', body: { state: 'COMMITTED' } } as const;
    await createLedger(db).append(changeId, [row], { state: 'COMMITTED', closedAt: at });
  };
  await closed('b'.repeat(64));
  const local = localClient({
    COUNTERSIGN_STATE_DIR: path('none'),
    COUNTERSIGN_DATABASE_URL: database.url('cs_gateway'),
  });
  const process = (name: string, ...ids: string[]) => ({
    ...{ name, role: 'cs_review' as const, databaseUrl: '', key: null },
    payloadKeys: ids.length === 0 ? null : { current: 'k2', keys: new Map(ids.map((id) => [id, new Uint8Array(32)])) },
  });
  const checks = await checkPayloadKeys(local, [process('both', 'k1', 'k2'), process('new', 'k2'), process('none')]);
  expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
    ['payload keys of both', true],
    ['payload keys of new', false],
    ['payload keys of none', false],
  ]);
  expect(checks[1]?.detail).toBe('open reviews are encrypted with keys that it does not have: k1');
  const old = { ...process('old'), payloadKeys: { current: 'k1', keys: new Map([['k1', new Uint8Array(32)]]) } };
  expect(await checkPayloadKeys(local, [process('both', 'k1', 'k2'), old])).toMatchObject([
    { name: 'payload keys of both', ok: true, detail: 'include all that are used: k1, k2' },
    { ok: false, detail: 'other processes encrypt with keys that it does not have: k2' },
  ]);
  await closed('a'.repeat(64));
  expect((await checkPayloadKeys(local, [process('new', 'k2'), process('none')])).map(({ ok }) => ok)).toEqual([
    true,
    false,
  ]);
  expect(await checkPayloadKeys(local, [process('none')])).toEqual([]);
});

test('a process that logs in with the role of another one, or to another database than the CLI, is a failure', async () => {
  const local = localClient({
    COUNTERSIGN_STATE_DIR: path('none'),
    COUNTERSIGN_DATABASE_URL: database.url('cs_gateway'),
  });
  const found = async (role: Role, databaseUrl: string) => {
    const process = { name: 'process', role, databaseUrl, key: null, payloadKeys: null };
    const { checks } = await checkDatabase(local, [process], { offline: true });
    return checks.filter(({ name }) => name === `role ${role}`);
  };
  expect(await found('cs_judge', database.url('cs_gateway'))).toMatchObject([
    { ok: false, detail: 'its URL logs in as cs_gateway' },
  ]);
  const elsewhere = database.url('cs_judge').replace(database.name, 'postgres');
  expect(await found('cs_judge', elsewhere)).toMatchObject([
    { ok: false, detail: expect.stringContaining('another database') },
  ]);
  const other = new URL(database.url('cs_judge').replace('127.0.0.1', 'localhost'));
  other.searchParams.set('options', '-c TimeZone=Asia/Tokyo');
  expect(await found('cs_judge', other.href)).toMatchObject([{ ok: true }]);
  expect(await found('cs_gateway', database.url('cs_gateway'))).toHaveLength(1);
});

test('notices that were given up or have failed repeatedly are failures, until a later one reaches the receiver', async () => {
  const db = database.open('admin');
  /** The last attempt was `minutesAgo`. A notice that is due is tried again later. */
  const add = (recipient: string, state: string, attempts: number, minutesAgo: number, problem: string | null) =>
    db.query(
      `insert into notices (change_id, event, n, team, channel, recipient, body, state, attempts, problem, created_at, next_at, sent_at)
       select repeat('a', 64), 'reminder', (select count(*) from notices), 'dba', 'mail', $1, '{}', $2, $3, $4, t, t + $6 * interval '1 second', case when $2 = 'sent' then t end
       from (select now() - $5 * interval '1 minute' as t) at`,
      [recipient, state, attempts, problem, minutesAgo, state === 'due' ? Math.min(3600, 30 * 2 ** (attempts - 1)) : 0],
    );
  const found = async () =>
    (await checkDelivery([{ role: 'cs_review', databaseUrl: database.url('cs_review') }])).map(({ detail }) => detail);
  await add('once@example.com', 'due', 1, 1, 'busy');
  await add('long-ago@example.com', 'failed', 10, 8 * 24 * 60, 'busy');
  await add('ended@example.com', 'dropped', 3, 1, 'busy');
  expect(await found()).toEqual([]);
  await add('alice@example.com', 'failed', 10, 20, 'busy');
  await add('alice@example.com', 'failed', 1, 10, 'no such user');
  await add('bob@example.com', 'due', 3, 1, 'connect ECONNREFUSED');
  expect(await found()).toEqual([
    '2 notices to alice@example.com were given up: no such user',
    '1 notice to bob@example.com could not be sent yet: connect ECONNREFUSED',
  ]);
  await add('alice@example.com', 'sent', 1, 5, null);
  await add('bob@example.com', 'sent', 1, 0, null);
  expect(await found()).toEqual([]);
  for (let i = 0; i < 8; i++) await add(`${i}@example.com`, 'failed', 10, 1, 'busy');
  await add('crashing@example.com', 'due', 100_000, 1, null);
  expect(await found()).toEqual([
    ...[0, 1, 2, 3, 4].map((i) => `1 notice to ${i}@example.com was given up: busy`),
    'notices to 4 more receivers were not sent',
  ]);
  expect(await checkDelivery([])).toEqual([]);
});

test('a role that may not read the notices is a failure that says what to do', async () => {
  const checks = await checkDelivery([{ role: 'cs_review', databaseUrl: database.url('cs_gateway') }]);
  expect(checks).toMatchObject([
    { ok: false, name: 'notices', detail: expect.stringMatching(/permission denied for table notices/), fix: SETUP },
  ]);
});
