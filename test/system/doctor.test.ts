import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Check } from '../../cli/doctor/check';
import { doctor } from '../../cli/doctor/doctor';
import { initialize } from '../../cli/init/initialize';
import { freezeTarget } from '../../cli/operator/records';
import { revokeKey } from '../../cli/keys/registry';
import { revoke } from '../../cli/policy/publish';
import { query } from '../../dev/query';
import { newKeyPair } from '../../signing/keys';
import { readKeyFile } from '../../signing/key-file';
import { CLI_ENV_FILE, readEnvFile } from '../../workers/env-file';
import type { Env } from '../../workers/config';
import { initRequest } from '../support/initialized';
import { newNamespace, ownServers, type OwnServers } from '../support/own-servers';

jest.setTimeout(120_000);
let servers: OwnServers;
let scratch: string;
let dir: string;
let operatorKey: string;

/** A complete set-up, in which every check passes; each test makes one fault. */
beforeAll(async () => {
  servers = await ownServers();
  scratch = mkdtempSync(join(tmpdir(), 'countersign-doctor-'));
  const request = { ...(await initRequest(servers, scratch, newKeyPair().publicKey)), agents: [], gatewayPort: 9 };
  ({ dir, operatorKey } = request);
  await initialize({}, request, () => {});
});
afterAll(async () => {
  await servers.stop();
  rmSync(scratch, { recursive: true, force: true });
});

const settings = (more: Env = {}): Env => ({
  ...readEnvFile(join(dir, CLI_ENV_FILE)),
  COUNTERSIGN_STATE_DIR: dir,
  ...more,
});
const admin = (sql: string) => query(servers.adminUrl('countersign'), sql);

async function failures(more: Env = {}, offline = true): Promise<readonly Check[]> {
  const failed = (await doctor(settings(more), { offline })).filter(({ ok }) => !ok);
  // Each says what to do.
  expect(failed.filter(({ fix }) => fix === null || fix === '')).toEqual([]);
  return failed;
}
const named = (checks: readonly Check[]): string[] => checks.map(({ name }) => name);

test('every offline check passes after init, and names what it checked', async () => {
  const checks = await doctor(settings(), { offline: true });
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  expect(named(checks)).toEqual(
    expect.arrayContaining([
      ...['review', 'judge', 'commit', 'gateway'].map((name) => `process ${name}`),
      ...['review', 'judge', 'commit', 'gateway', 'operator'].map((name) => `role cs_${name}`),
      'trust',
      'clock',
      'Countersign database',
      'Temporal server',
      `namespace ${servers.namespace}`,
      'target shop (stage)',
      'target shop (commit)',
      'policy shop/SQLDryRun',
      'key of process commit',
      'approvers',
    ]),
  );
});

test('without running processes it reports queues without pollers and the gateway', async () => {
  expect(named(await failures({}, false))).toEqual([
    'queue countersign-review',
    'queue countersign-judge',
    'queue countersign-commit',
    'gateway',
  ]);
});

describe('settings', () => {
  test('an unknown variable, in the environment and in the file of a process', async () => {
    const path = join(dir, 'review.env');
    const before = readFileSync(path, 'utf8');
    writeFileSync(path, `${before}COUNTERSIGN_BREAKER=off\n`);
    const found = await failures({ COUNTERSIGN_TRUSTFILE: '/x' });
    writeFileSync(path, before);
    expect(named(found)).toEqual(['variable COUNTERSIGN_TRUSTFILE', 'variable COUNTERSIGN_BREAKER', 'process review']);
    expect(found[0]?.fix).toContain('COUNTERSIGN_TRUST_FILE');
  });

  test('a process without its key, and a trust file without committers', async () => {
    const key = join(dir, 'keys', 'judge.key.json');
    renameSync(key, `${key}.gone`);
    const trust = join(scratch, 'trust.json');
    writeFileSync(trust, JSON.stringify({ operators: [readKeyFile(operatorKey).publicKey] }));
    const found = await failures({ COUNTERSIGN_TRUST_FILE: trust });
    renameSync(`${key}.gone`, key);
    expect(named(found)).toEqual(['process judge', 'trust', 'key of process commit']);
  });

  test('a file of a process that cannot be read, and a state directory that is a file, hide no other check', async () => {
    const path = join(dir, 'judge.env');
    renameSync(path, `${path}.gone`);
    mkdirSync(path);
    const checks = await doctor(settings(), { offline: true });
    rmdirSync(path);
    renameSync(`${path}.gone`, path);
    expect(checks.filter(({ ok }) => !ok)).toMatchObject([
      { name: 'process judge', detail: expect.stringContaining(path) as string },
    ]);
    expect(named(checks)).toEqual(expect.arrayContaining(['process review', 'Countersign database']));
    const found = await failures({ COUNTERSIGN_STATE_DIR: operatorKey });
    expect(found).toMatchObject([{ name: 'state directory', detail: expect.stringContaining(operatorKey) as string }]);
  });

  test('a namespace that does not exist is named once', async () => {
    expect(await failures({ TEMPORAL_NAMESPACE: 'nowhere', COUNTERSIGN_GATEWAY_URL: '' }, false)).toMatchObject([
      { name: 'namespace nowhere', fix: expect.stringContaining('TEMPORAL_NAMESPACE') as string },
    ]);
  });

  test('servers that cannot be reached', async () => {
    const down = await failures({
      TEMPORAL_ADDRESS: '127.0.0.1:9',
      COUNTERSIGN_DATABASE_URL: 'postgres://cs_gateway:x@127.0.0.1:9/countersign',
    });
    expect(named(down)).toEqual(['Temporal server', 'Countersign database']);
  });

  test('a namespace without search attributes', async () => {
    const { namespace } = await newNamespace();
    expect(named(await failures({ TEMPORAL_NAMESPACE: namespace }))).toEqual([`namespace ${namespace}`]);
  });
});

describe('database', () => {
  test('a role without one of its rights, with a wrong password, or with too many rights', async () => {
    await admin('revoke insert on staging_records from cs_commit');
    await admin('revoke execute on function publish_policy from cs_gateway');
    await admin('alter role cs_review createrole');
    await admin(`alter role cs_judge password 'another'`);
    const found = await failures();
    await admin('grant insert on staging_records to cs_commit');
    await admin('grant execute on function publish_policy to cs_gateway');
    await admin('alter role cs_review nocreaterole');
    await admin(`alter role cs_judge password '${password('judge.env')}'`);
    expect(named(found).sort()).toEqual(['role cs_commit', 'role cs_gateway', 'role cs_judge', 'role cs_review']);
    const detail = (role: string) => found.find(({ name }) => name === `role ${role}`)?.detail;
    expect(detail('cs_commit')).toBe('lacks staging_records (insert)');
    expect(detail('cs_gateway')).toBe('lacks publish_policy (execute)');
  });

  test('a right that a check itself needs is named, with the command that grants it, and hides no other check', async () => {
    await admin('revoke select on schema_info from cs_gateway');
    const checks = await doctor(settings(), { offline: true });
    await admin('grant select on schema_info to cs_gateway');
    const found = checks.filter(({ ok }) => !ok);
    expect(found.map(({ name, detail }) => `${name}: ${detail}`)).toEqual([
      'Countersign database: permission denied for table schema_info',
      'role cs_gateway: lacks schema_info (select)',
    ]);
    for (const { fix } of found) expect(fix).toMatch(/^Run "countersign setup"/);
    expect(named(checks)).toEqual(expect.arrayContaining(['clock', 'role cs_commit', 'policy shop/SQLDryRun']));
  });

  test('a password that the server refuses is named once, and hides no other role', async () => {
    const checks = await doctor(
      settings({ COUNTERSIGN_DATABASE_URL: servers.adminUrl('countersign').replace(/:[^:@]+@/, ':another@') }),
      { offline: true },
    );
    expect(checks.filter(({ ok }) => !ok)).toMatchObject([
      {
        name: 'Countersign database',
        detail: expect.stringContaining('password authentication failed') as string,
        fix: expect.stringMatching(/^Correct role and password in COUNTERSIGN_DATABASE_URL/) as string,
      },
    ]);
    expect(named(checks)).toEqual(expect.arrayContaining(['role cs_commit', 'role cs_operator']));
  });

  test.each([
    ['nowhere', /does not exist/, /^Correct the name of the database/],
    ['postgres', /no tables of Countersign/, /^Run "countersign setup"/],
  ])('the database %s, which is not that of Countersign, is named once', async (database, detail, fix) => {
    const url = new URL(readEnvFile(join(dir, CLI_ENV_FILE))['COUNTERSIGN_DATABASE_URL'] ?? '');
    url.pathname = `/${database}`;
    expect(await failures({ COUNTERSIGN_DATABASE_URL: url.href })).toMatchObject([
      {
        name: 'Countersign database',
        detail: expect.stringMatching(detail) as string,
        fix: expect.stringMatching(fix) as string,
      },
    ]);
  });

  test('a URL with the role of another process', async () => {
    const found = await failures({ COUNTERSIGN_DATABASE_URL: servers.adminUrl('countersign') });
    expect(named(found)).toEqual(['role cs_gateway']);
    const wrong = await failures({ COUNTERSIGN_OPERATOR_DATABASE_URL: servers.adminUrl('countersign') });
    expect(wrong.map(({ name, detail }) => [name, detail])).toEqual([
      ['role cs_operator', expect.stringContaining('logs in as postgres')],
    ]);
  });

  test('a clock that differs by more than five seconds', async () => {
    const now = Date.now.bind(Date);
    const spy = jest.spyOn(Date, 'now').mockImplementation(() => now() + 60_000);
    const found = await failures();
    spy.mockRestore();
    expect(found.map(({ name, detail }) => [name, detail])).toEqual([
      ['clock', expect.stringMatching(/differs by (59|60)\.\d s/)],
    ]);
  });

  test('a schema of another version', async () => {
    await admin('insert into schema_info (version) values (999)');
    const found = await failures();
    await admin('delete from schema_info where version = 999');
    expect(named(found)).toEqual(['Countersign database']);
  });

  test('rows that have had no checkpoint for more than five minutes', async () => {
    const at = new Date(Date.now() - 6 * 60_000).toISOString();
    await admin(
      `insert into ledger (change_id, n, prev, hash, kind, at, actor, body, fact_key)
       values ('${'a'.repeat(64)}', 0, '', '', 'refused', '${at}', 'x', '{}', 'x')`,
    );
    const found = (await failures({}, false)).filter(({ name }) => name === 'checkpoints');
    expect(found.map(({ detail }) => detail)).toEqual([`rows since ${at} have no checkpoint; newest: none yet`]);
  });
});

describe('targets and policies', () => {
  test.each(['stage', 'commit'])('a wrong password of the %s role of a target', async (purpose) => {
    const targets = JSON.parse(readFileSync(join(dir, 'targets.json'), 'utf8')) as {
      targets: { name: string; stageUrl: string; commitUrl: string }[];
    };
    const url = targets.targets[0]?.[purpose === 'stage' ? 'stageUrl' : 'commitUrl'] ?? '';
    const role = `countersign_${purpose}_shop`;
    await admin(`alter role ${role} password 'another'`);
    const found = await failures();
    await admin(`alter role ${role} password '${new URL(url).password}'`);
    expect(named(found)).toEqual([`target shop (${purpose})`]);
    expect(found[0]?.fix).toContain('target init shop');
  });

  test('a target without a policy, and a policy for a target that the committer does not have', async () => {
    const file = join(scratch, 'targets.json');
    writeFileSync(
      file,
      JSON.stringify({ targets: [{ name: 'other', development: false, stageUrl: null, commitUrl: null }] }),
    );
    const found = await failures({ COUNTERSIGN_TARGETS_FILE: file });
    expect(found.map(({ name, detail }) => `${name}: ${detail}`)).toEqual([
      'policy other: the newest revision has no plan for this target',
      'policy shop: the committer has no credentials for this target',
    ]);
    writeFileSync(file, '{');
    expect(named(await failures({ COUNTERSIGN_TARGETS_FILE: file }))).toContain('targets');
  });

  test('a policy that no trusted operator signed', async () => {
    const trust = join(scratch, 'other-trust.json');
    const committers = [readKeyFile(join(dir, 'keys', 'commit.key.json')).publicKey];
    writeFileSync(trust, JSON.stringify({ operators: [newKeyPair().publicKey], committers }));
    const found = named(await failures({ COUNTERSIGN_TRUST_FILE: trust }));
    expect(found).toContain('policy');
    expect(found).toContain('approvers');
  });

  test('a target whose URL is invalid hides no other check', async () => {
    const file = join(scratch, 'targets.json');
    const sound = JSON.parse(readFileSync(join(dir, 'targets.json'), 'utf8')) as { targets: object[] };
    const url = 'postgres://a@[:x/';
    const invalid = { name: 'odd', development: false, stageUrl: url, commitUrl: null };
    writeFileSync(file, JSON.stringify({ targets: [invalid, ...sound.targets] }));
    const checks = await doctor(settings({ COUNTERSIGN_TARGETS_FILE: file }), { offline: true });
    expect(named(checks.filter(({ ok }) => !ok))).toEqual(['target odd', 'policy odd']);
    expect(named(checks)).toEqual(expect.arrayContaining(['target shop (commit)', 'policy shop/SQLDryRun']));
  });

  test('a frozen target is named, and is not a failure', async () => {
    await freezeTarget(settings(), { target: 'shop', frozen: true, reason: 'inventory', operatorKey });
    const checks = await doctor(settings(), { offline: true });
    await freezeTarget(settings(), { target: 'shop', frozen: false, reason: 'done', operatorKey });
    expect(checks.find(({ detail }) => detail.includes('inventory'))).toMatchObject({ name: 'target shop', ok: true });
  });

  test('a revoked key of a process', async () => {
    const { keyId } = readKeyFile(join(dir, 'keys', 'review.key.json'));
    await revokeKey(settings(), keyId, 'test', operatorKey);
    expect(named(await failures())).toEqual(['key of process review']);
  });

  test('a revision that was revoked, if no other is in force', async () => {
    await revoke(settings(), { revision: 1, reason: 'test' }, operatorKey);
    const found = (await failures()).filter(({ name }) => name.startsWith('policy'));
    expect(found.map(({ detail }) => detail)).toEqual(['revision 1 was revoked, and no other is in force']);
  });
});

function password(file: string): string {
  return new URL(readEnvFile(join(dir, file))['COUNTERSIGN_DATABASE_URL'] ?? '').password;
}
