import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initialize, type Initialized } from '../../cli/init/initialize';
import type { InitRequest } from '../../cli/init/request';
import { doctor } from '../../cli/doctor/doctor';
import { revokeKey } from '../../cli/keys/registry';
import { freezeTarget } from '../../cli/operator/records';
import { targetInit } from '../../cli/operator/target-init';
import { runDev } from '../../cli/servers/dev';
import { query } from '../../dev/query';
import { readKeyFile, writeKeyFile } from '../../signing/key-file';
import { newKeyPair } from '../../signing/keys';
import { CLI_ENV_FILE, readEnvFile } from '../../workers/env-file';
import { initRequest } from '../support/initialized';
import { ownServers, type OwnServers } from '../support/own-servers';

jest.setTimeout(120_000);
let servers: OwnServers;
let scratch: string;
let dir: string;
let request: InitRequest;
const alice = newKeyPair();

beforeAll(async () => {
  servers = await ownServers();
  scratch = mkdtempSync(join(tmpdir(), 'countersign-init-'));
  writeFileSync(join(scratch, 'judge-key'), 'sk-1\n');
  request = {
    ...(await initRequest(servers, scratch, alice.publicKey)),
    judge: { url: 'http://127.0.0.1:9/v1', keyFile: join(scratch, 'judge-key') },
    policy: null,
  };
  ({ dir } = request);
});
afterAll(async () => {
  await servers.stop();
  rmSync(scratch, { recursive: true, force: true });
});

const init = (more: Partial<InitRequest> = {}): Promise<Initialized> =>
  initialize({ COUNTERSIGN_QUEUE_SUFFIX: '-own', COUNTERSIGN_CACHE: '/c' }, { ...request, ...more }, () => {});

/** Every file with its content, and the stored password of every role. */
async function everything(): Promise<Record<string, string>> {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(dir, name)).isFile(),
  );
  const roles = await query<{ rolname: string; rolpassword: string | null }>(
    servers.adminUrl('postgres'),
    'select rolname, rolpassword from pg_authid',
  );
  return Object.fromEntries([
    ...files.map((name) => [name, readFileSync(join(dir, name), 'utf8')]),
    ...roles.map(({ rolname, rolpassword }) => [rolname, rolpassword ?? '']),
  ]) as Record<string, string>;
}

const operatorEnv = (): Record<string, string> => ({
  ...readEnvFile(join(dir, CLI_ENV_FILE)),
  COUNTERSIGN_STATE_DIR: dir,
});

test('init refuses input that is wrong before it makes or changes anything', async () => {
  const privateKey = join(scratch, 'alice.key.json');
  const label = { kind: 'approver', subject: { type: 'person', id: 'alice' }, onBehalfOf: null, demo: false } as const;
  writeKeyFile({ path: privateKey, key: alice, label, createdAt: new Date().toISOString() });
  const wrong: [Partial<InitRequest>, string][] = [
    [{ operatorKey: join(dir, 'keys', 'operator.json') }, 'expected a path outside of'],
    [{ persons: [{ name: 'alice', publicKeyFile: privateKey }] }, 'contains a private key'],
    [{ persons: [{ name: 'alice', publicKeyFile: join(scratch, 'none') }] }, 'cannot be read'],
    [{ targets: [] }, '--target is missing'],
    [{ policy: join(scratch, 'judge-key') }, 'Invalid policy bundle'],
    [{ namespace: 'absent' }, 'temporal operator namespace create -n absent'],
  ];
  for (const [more, message] of wrong) await expect(init(more)).rejects.toThrow(message);
  expect(existsSync(dir)).toBe(false);
  expect(existsSync(request.operatorKey)).toBe(false);
  expect(await query(servers.adminUrl('postgres'), `select from pg_roles where rolname like 'cs_%'`)).toEqual([]);
});

test('init makes the database and a private directory, and writes a starter policy that it does not publish', async () => {
  const done = await init();
  expect(done.steps.filter(({ changed }) => !changed)).toEqual([]);
  expect(done.policyToPublish).toBe(join(dir, 'policy.yaml'));
  expect(readFileSync(join(dir, 'policy.yaml'), 'utf8')).toContain('"shop":');
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  expect(names.sort()).toEqual([
    'cli.env',
    'commit.env',
    'gateway.env',
    'judge.env',
    'keys',
    'keys/agent-shopbot.key.json',
    'keys/commit.key.json',
    'keys/judge.key.json',
    'keys/review.key.json',
    'policy.yaml',
    'review.env',
    'targets.json',
    'trust.json',
  ]);
  const modes = new Set(names.map((name) => (statSync(join(dir, name)).mode & 0o777).toString(8)));
  expect([...modes].sort()).toEqual(['600', '700']);
  expect((statSync(dir).mode & 0o777).toString(8)).toBe('700');
  expect((statSync(request.operatorKey).mode & 0o777).toString(8)).toBe('600');
  // What all must agree on comes from the environment of init.
  for (const name of ['review', 'judge', 'commit', 'gateway', 'cli']) {
    const values = readEnvFile(join(dir, `${name}.env`));
    expect([values['COUNTERSIGN_QUEUE_SUFFIX'], values['COUNTERSIGN_CACHE']]).toEqual(['-own', undefined]);
  }
  // Each process has its own secrets only.
  expect(Object.keys(readEnvFile(join(dir, 'gateway.env')))).not.toContain('COUNTERSIGN_KEY_FILE');
  expect(readEnvFile(join(dir, 'judge.env'))).toMatchObject({ OPENAI_API_KEY: 'sk-1' });
  for (const name of ['review', 'gateway', 'commit'])
    expect(Object.keys(readEnvFile(join(dir, `${name}.env`)))).not.toContain('OPENAI_API_KEY');
});

test('a second run with the same flags changes no file and no password, and keeps what a person added', async () => {
  const reviewEnv = join(dir, 'review.env');
  writeFileSync(reviewEnv, `${readFileSync(reviewEnv, 'utf8')}COUNTERSIGN_BREAKERS=off\n`);
  const before = await everything();
  const { steps } = await init();
  expect(steps.filter(({ changed }) => changed)).toEqual([]);
  expect(await everything()).toEqual(before);
});

test('two runs at the same time agree on all passwords', async () => {
  const before = await everything();
  await Promise.all([init(), init()]);
  expect(await everything()).toEqual(before);
});

test('init publishes a given policy once', async () => {
  const policy = join(scratch, 'policy.yaml');
  expect((await init({ policy })).steps.at(-1)).toEqual({ what: 'policy revision 1', changed: true });
  const again = await init({ policy });
  expect(again.steps.at(-1)).toEqual({ what: 'policy revision 1', changed: false });
  expect(again.policyToPublish).toBeNull();
});

test('init never replaces the password of an existing role unless --rotate is given', async () => {
  const before = await everything();
  const other = join(scratch, 'other');
  const elsewhere = { dir: other, operatorKey: join(scratch, 'other-operator.json') };
  await expect(init(elsewhere)).rejects.toThrow(/Role cs_review exists on this server.*--rotate/);
  const targetsFile = join(dir, 'targets.json');
  rmSync(targetsFile);
  await expect(init()).rejects.toThrow(/Role countersign_stage_shop exists on this server.*--rotate/);
  writeFileSync(targetsFile, before['targets.json'] ?? '', { mode: 0o600 });
  expect(await everything()).toEqual(before);

  rmSync(targetsFile);
  await init({ rotate: true });
  const after = await everything();
  expect(after['countersign_stage_shop']).not.toBe(before['countersign_stage_shop']);
  expect(after['cs_review']).toBe(before['cs_review']);
});

test('init refuses another operator key for a directory, and a revoked or foreign key', async () => {
  await expect(init({ operatorKey: join(scratch, 'second-operator.json') })).rejects.toThrow(
    /its operators do not include/,
  );
  await expect(init({ persons: [{ name: 'bob', publicKeyFile: join(scratch, 'alice.pub') }] })).rejects.toThrow(
    'already registered for person "alice"',
  );
});

test('another operator whose key the trust file lists can repeat init: what the first one signed counts', async () => {
  const path = join(dir, 'trust.json');
  const before = readFileSync(path, 'utf8');
  const operatorKey = join(scratch, 'second-operator.json');
  const trust = JSON.parse(before) as { operators: unknown[] };
  const [first] = trust.operators;
  const second = readKeyFile(operatorKey).publicKey;
  const now = new Date().toISOString();
  const persons = [{ name: 'alice', publicKeyFile: null }];
  try {
    for (const operators of [
      [first, second],
      [{ publicKey: first, until: now }, second],
    ]) {
      writeFileSync(path, JSON.stringify({ ...trust, operators }));
      const { invite, steps } = await init({ operatorKey, persons, policy: join(scratch, 'policy.yaml') });
      expect(steps.find(({ what }) => what.startsWith('policy revision'))?.changed).toBe(false);
      expect(await invite()).toEqual({ made: [], open: [] });
    }
    const ended = await everything();
    await expect(init()).rejects.toThrow(`counts only until ${now}`);
    expect(await everything()).toEqual(ended);
  } finally {
    writeFileSync(path, before);
  }
});

test('init makes one link for a person without a public key, and none again while it is open or for a person who has a key', async () => {
  const persons = [
    { name: 'alice', publicKeyFile: null },
    { name: 'carol', publicKeyFile: null },
  ];
  const first = await init({ persons });
  const links = (): Promise<unknown[]> => query(servers.adminUrl('countersign'), 'select from enrollments');
  expect(await links()).toEqual([]);
  const twice = await Promise.all([first.invite(), first.invite()]);
  expect(twice.flatMap(({ made }) => made)).toEqual([
    {
      person: 'carol',
      link: expect.stringMatching(/^http:\/\/localhost:8077\/inbox\/#enroll=[\w-]{43}$/),
      expiresAt: expect.any(String),
    },
  ]);
  const again = await (await init({ persons })).invite();
  expect(again).toEqual({
    made: [],
    open: [{ person: 'carol', keyId: expect.any(String), expiresAt: expect.any(String) }],
  });
  const checks = await doctor(operatorEnv(), { offline: true });
  expect(checks.find(({ name }) => name === 'approvers')?.detail).toBe('1 active, 1 enrolment link open');
  // As init says of a link that is lost.
  await revokeKey(operatorEnv(), again.open[0]?.keyId ?? '', 'the link is lost', request.operatorKey);
  expect((await (await init({ persons })).invite()).made).toMatchObject([{ person: 'carol' }]);
  // The passkey belongs to the host of the link, so another address needs another link.
  const elsewhere = await (await init({ persons, publicUrl: 'https://countersign.example' })).invite();
  expect(elsewhere.made.map(({ link }) => new URL(link).origin)).toEqual(['https://countersign.example']);
});

test('dev refuses a directory of init, whose keys and settings it would replace', async () => {
  const before = await everything();
  await expect(
    runDev(
      operatorEnv(),
      { port: undefined, rotate: false },
      () => {},
      () => {},
    ),
  ).rejects.toThrow('was made by "countersign init"');
  expect(await everything()).toEqual(before);
});

test('target init refuses existing roles, and sets new passwords with --rotate', async () => {
  const env = { COUNTERSIGN_TARGET_ADMIN_URL: servers.adminUrl('shop') };
  const before = await everything();
  await expect(targetInit(env, 'shop', { dryRun: false, rotate: false }, () => {})).rejects.toThrow(
    /Role countersign_(stage|commit)_shop exists on this server.* Give --rotate/,
  );
  expect(await everything()).toEqual(before);
  const steps = await targetInit(env, 'shop', { dryRun: false, rotate: true }, () => {});
  const entry = JSON.parse(steps.at(-1) ?? '') as { stageUrl: string };
  expect(await query(entry.stageUrl, 'select stock from items')).toEqual([]);
});

test('target freeze names the published targets if the target is unknown', async () => {
  const freeze = { frozen: true, reason: 'test', operatorKey: request.operatorKey };
  await expect(freezeTarget(operatorEnv(), { ...freeze, target: 'shpo' })).rejects.toThrow(
    'No published policy names the target "shpo"; expected one of: shop',
  );
  expect(await freezeTarget(operatorEnv(), { ...freeze, target: 'shop' })).toBe(1);
});
