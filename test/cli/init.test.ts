import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Check } from '../../cli/doctor/check';
import { writeEnvFiles } from '../../cli/init/env-files';
import type { Invited } from '../../cli/init/enrollment-links';
import type { Initialized } from '../../cli/init/initialize';
import type { InitRequest } from '../../cli/init/request';
import type { Env } from '../../workers/config';
import { ConfigError } from '../../workers/config-error';
import { formatEnvFile, readEnvFile } from '../../workers/env-file';
import { runCommand, temporaryFolder, type RunOptions } from './run-command';

const URL_ = 'postgres://postgres:secret@db/countersign';
const NEEDED = ['--database-url', URL_, '--target', 'shop=postgres://a:b@db/shop?x=1', '--person', 'Alice=a.pub'];
const ARGS = [...NEEDED, '--operator-key', '/keys/op.json'];

const folder = temporaryFolder();
const FACTS = {
  keys: { review: { path: '/r.json' }, judge: { path: '/j.json' }, commit: { path: '/c.json' } },
  passwords: { cs_review: 'r', cs_judge: 'j', cs_commit: 'c', cs_gateway: 'g', cs_operator: 'o' },
  judgeKey: null,
};

const INVITED: Invited = {
  made: [{ person: 'bob', link: 'http://localhost:8077/inbox/#enroll=x', expiresAt: '2026-11-24T09:00:00.000Z' }],
  open: [{ person: 'eve', keyId: 'e1', expiresAt: '2026-11-23T09:00:00.000Z' }],
};

/** Runs `init` without servers. `asked` are the questions, each with its answer. */
async function run(
  args: readonly string[],
  options: RunOptions = {},
  checks: readonly Check[] = [],
  parts: object = {},
) {
  const requests: InitRequest[] = [];
  const shellEnvs: Env[] = [];
  const invite = jest.fn(async () => INVITED);
  const done: Initialized = {
    steps: [
      { what: 'trust.json', changed: true },
      { what: 'schema', changed: false },
    ],
    policyToPublish: '/etc/cs/policy.yaml',
    invite,
    settings: { COUNTERSIGN_STATE_DIR: '/etc/cs' },
  };
  const initialize = async (shellEnv: Env, request: InitRequest): Promise<Initialized> => {
    requests.push(request);
    shellEnvs.push(shellEnv);
    return done;
  };
  const doctor = jest.fn(async (_env: object, _options: object) => checks);
  const writeManifests = jest.fn((_kind: string, dir: string, _version: string) => ({
    files: [{ path: `${dir}/compose.yaml`, changed: true }],
    start: 'docker compose up',
  }));
  const remote = {
    init: { initialize },
    doctor: { doctor, ...parts },
    manifests: { writeManifests, ...parts },
  };
  const ran = await runCommand(['init', ...args], { ...options, remote });
  return { ...ran, requests, shellEnvs, doctor, writeManifests, invite };
}

test('init turns its options into one request, with defaults', async () => {
  const more = '--person Bob --agent bot=dana --agent ci=dana --yes'.split(' ');
  const { code, requests, doctor } = await run(['/etc/cs', ...ARGS, ...more]);
  expect(code).toBe(0);
  expect(requests).toEqual([
    {
      dir: '/etc/cs',
      databaseUrl: URL_,
      temporalAddress: '127.0.0.1:7233',
      namespace: 'default',
      tenant: 'default',
      targets: [{ name: 'shop', adminUrl: 'postgres://a:b@db/shop?x=1' }],
      schemas: ['public'],
      persons: [
        { name: 'alice', publicKeyFile: 'a.pub' },
        { name: 'bob', publicKeyFile: null },
      ],
      agents: [
        { name: 'bot', person: 'dana' },
        { name: 'ci', person: 'dana' },
      ],
      judge: { url: null, keyFile: null },
      operatorKey: '/keys/op.json',
      policy: null,
      gatewayPort: 8077,
      publicUrl: null,
      rotate: false,
    },
  ]);
  expect(doctor).toHaveBeenCalledWith({ COUNTERSIGN_STATE_DIR: '/etc/cs' }, { offline: true, inviting: true });
});

test('init prints what it made and kept, the checks, and the next commands', async () => {
  const check: Check = { name: 'clock', ok: true, detail: 'fine', fix: null };
  const { out } = await run(['/etc/cs', ...ARGS, '--yes'], {}, [check]);
  expect(out.trimEnd().split('\n')).toEqual([
    'made trust.json',
    'kept schema',
    'ok   clock: fine',
    'link for bob only, once, until 2026-11-24T09:00:00.000Z: http://localhost:8077/inbox/#enroll=x',
    "an earlier link for eve is open until 2026-11-23T09:00:00.000Z; if it is lost, revoke it and run init again: COUNTERSIGN_STATE_DIR=/etc/cs countersign keys revoke e1 --reason 'the link is lost' --operator-key /keys/op.json",
    'next: COUNTERSIGN_STATE_DIR=/etc/cs countersign policy publish /etc/cs/policy.yaml --operator-key /keys/op.json',
    'next: countersign up /etc/cs',
  ]);
});

test('init makes enrolment links, which can be printed only once, after every step that can fail', async () => {
  const fails = (): never => {
    throw new ConfigError('is outside of /etc/cs');
  };
  for (const failing of [{ writeManifests: fails }, { doctor: fails }]) {
    const { code, err, invite } = await run(['/etc/cs', ...ARGS, '--write', 'kubernetes', '--yes'], {}, [], failing);
    expect([code, err]).toEqual([2, 'error: is outside of /etc/cs\n']);
    expect(invite).not.toHaveBeenCalled();
  }
  const { out } = await run(['/etc/cs', ...ARGS, '--json', '--yes']);
  expect(JSON.parse(out)).toMatchObject({ ok: true, links: INVITED.made, openLinks: INVITED.open });
});

test('init exits 1 if a check of doctor fails', async () => {
  expect((await run([...ARGS, '--yes'], {}, [{ name: 'clock', ok: false, detail: 'off', fix: 'x' }])).code).toBe(1);
});

test('addresses and URLs of administrators can come from the environment', async () => {
  const env = {
    COUNTERSIGN_DATABASE_ADMIN_URL: URL_,
    COUNTERSIGN_TARGET_ADMIN_URL: 'postgres://t@db/shop',
    TEMPORAL_ADDRESS: 'temporal:7233',
    TEMPORAL_NAMESPACE: 'countersign',
    COUNTERSIGN_TENANT: 'acme',
  };
  const { requests } = await run(['--target', 'shop', '--person', 'a=b', '--operator-key', '/op', '--yes'], {
    host: { env },
  });
  expect(requests[0]).toMatchObject({
    dir: resolve('.countersign'),
    databaseUrl: URL_,
    targets: [{ name: 'shop', adminUrl: 'postgres://t@db/shop' }],
    temporalAddress: 'temporal:7233',
    namespace: 'countersign',
    tenant: 'acme',
  });
});

/** Runs `init` for a directory, and writes its environment files. Returns those that changed. */
async function write(dir: string, args: readonly string[], options?: RunOptions): Promise<readonly string[]> {
  mkdirSync(dir, { recursive: true });
  const { requests, shellEnvs } = await run([dir, ...ARGS, ...args, '--yes'], options);
  return requests.flatMap((request, i) => writeEnvFiles({ ...FACTS, request, shellEnv: shellEnvs[i] ?? {} }));
}

test('a repeated init without an option keeps address, namespace, tenant and port of the directory, not those of another one', async () => {
  const dir = folder.path('etc');
  const options = ['--temporal-address', 'temporal:7233', '--namespace', 'countersign', '--gateway-port', '9000'];
  const first = await write(dir, options, { host: { env: { COUNTERSIGN_TENANT: 'acme' } } });
  expect(first.map((path) => basename(path))).toContain('cli.env');
  const another = { TEMPORAL_ADDRESS: 'other:7233', COUNTERSIGN_TENANT: 'other', COUNTERSIGN_QUEUE_SUFFIX: '-other' };
  expect(await write(dir, [], { host: { env: another, shellEnv: {} } })).toEqual([]);
  expect(await write(dir, ['--gateway-port', '9001'])).toEqual([join(dir, 'gateway.env'), join(dir, 'cli.env')]);
});

test('the CLI makes enrolment links for the address at which the gateway expects people', async () => {
  const dir = folder.path('public');
  const ofCli = (): string | undefined => readEnvFile(join(dir, 'cli.env'))['COUNTERSIGN_PUBLIC_URL'];
  await write(dir, []);
  expect(ofCli()).toBeUndefined();
  await write(dir, ['--public-url', 'https://cs.example']);
  expect(await write(dir, [])).toEqual([]);
  const enrollPerson = jest.fn(async () => ({ link: '', keyId: '', expiresAt: '' }));
  await runCommand(['keys', 'enroll', 'gina', '--tenant', 'default', '--operator-key', '/op'], {
    host: { env: readEnvFile(join(dir, 'cli.env')) },
    remote: { keys: { enrollPerson, gatewayUrl: () => 'http://127.0.0.1:8077' } },
  });
  expect(enrollPerson).toHaveBeenCalledWith(
    expect.anything(),
    expect.objectContaining({ publicUrl: 'https://cs.example' }),
    '/op',
  );
  // A person may write it into the file of the gateway instead.
  const gateway = join(dir, 'gateway.env');
  writeFileSync(gateway, formatEnvFile({ ...readEnvFile(gateway), COUNTERSIGN_PUBLIC_URL: 'https://other.example' }));
  await write(dir, []);
  expect(ofCli()).toBe('https://other.example');
});

test('a repeated init keeps the credentials of each process, unless the shell has another for all', async () => {
  const dir = folder.path('credentials');
  const review = join(dir, 'review.env');
  const key = (path = review): string | undefined => readEnvFile(path)['TEMPORAL_API_KEY'];
  await write(dir, [], { host: { env: { TEMPORAL_API_KEY: 'setup', COUNTERSIGN_QUEUE_SUFFIX: '-a' } } });
  writeFileSync(review, formatEnvFile({ ...readEnvFile(review), TEMPORAL_API_KEY: 'of-review' }));
  const { TEMPORAL_API_KEY: _, ...withoutKey } = readEnvFile(join(dir, 'commit.env'));
  writeFileSync(join(dir, 'commit.env'), formatEnvFile({ ...withoutKey, TEMPORAL_TLS_CLIENT_CERT_PATH: '/c.pem' }));
  rmSync(join(dir, 'judge.env'));
  expect(await write(dir, [])).toEqual([join(dir, 'judge.env')]);
  expect(key()).toBe('of-review');
  // A file that was lost gets the queues of the others again.
  expect(readEnvFile(join(dir, 'judge.env'))).toMatchObject({ COUNTERSIGN_QUEUE_SUFFIX: '-a' });
  await write(dir, [], { host: { env: { TEMPORAL_API_KEY: 'new' } } });
  expect([key(), key(join(dir, 'cli.env'))]).toEqual(['new', 'new']);
});

test.each<[string[], string]>([
  [[], '--database-url is missing'],
  [NEEDED, '--operator-key is missing'],
  [['--database-url', URL_, '--operator-key', '/op'], '--person is missing'],
  [[...ARGS, '--person', 'bob='], '--person: expected NAME or NAME=PUBLIC_KEY_FILE'],
  [[...ARGS, '--person', 'person:bob=b'], 'without a prefix'],
  [[...ARGS, '--agent', 'bot='], '--agent: expected NAME=PERSON'],
  [[...ARGS, '--target', 'a b=postgres://x/y'], '--target: "a b"'],
  [[...ARGS, '--target', `${'x'.repeat(45)}=postgres://x/y`], 'at most 44 characters'],
  [[...ARGS, '--target', 'x=mysql://root:hunter2@db/y'], '--target: expected postgres://'],
  [[...ARGS, '--target', 'shop=postgres://x/y'], '--target: "shop" is given twice'],
  [[...ARGS, '--person', 'alice'], '--person: "alice" is given twice'],
  [[...ARGS, '--agent', 'bot=dana', '--agent', 'bot=erin'], '--agent: "bot" is given twice'],
  [[...ARGS, '--gateway-port', '0'], '--gateway-port'],
])('init %j is a usage error that never repeats a URL', async (args, message) => {
  const { code, err, requests } = await run([...args, '--yes']);
  expect([code, requests]).toEqual([2, []]);
  expect(err).toContain(message);
  expect(err).not.toMatch(/hunter2|secret/);
});

test('a repeated init needs no approver, because an earlier one registered them', async () => {
  const dir = folder.path('again');
  mkdirSync(dir, { recursive: true });
  const args = [dir, '--database-url', URL_, '--operator-key', '/op', '--agent', 'bot=dana', '--yes'];
  expect((await run(args)).err).toContain('--person is missing');
  writeFileSync(join(dir, 'cli.env'), '');
  const { requests } = await run(args);
  expect(requests).toMatchObject([{ persons: [], agents: [{ name: 'bot' }] }]);
});

test('on a terminal init asks for what is missing, and --yes never asks', async () => {
  const asked: string[] = [];
  const answers = [
    URL_,
    'shop=postgres://t@db/shop stock=postgres://t@db/stock',
    'alice=a.pub bob=b.pub',
    '',
    'https://llm.example/v1',
    '',
    '/op',
  ];
  const prompt = async (question: string): Promise<string> => {
    asked.push(question);
    return answers[asked.length - 1] ?? '';
  };
  const { requests } = await run([], { tty: true, host: { prompt } });
  expect(asked).toHaveLength(7);
  expect(requests[0]).toMatchObject({
    targets: [{ name: 'shop' }, { name: 'stock' }],
    persons: [{ name: 'alice' }, { name: 'bob' }],
    agents: [],
    judge: { url: 'https://llm.example/v1', keyFile: null },
    operatorKey: '/op',
  });
  expect((await run(['--yes'], { tty: true })).code).toBe(2);
});

test('--write adds manifests, and their command replaces `up`', async () => {
  const { out, writeManifests } = await run(['/etc/cs', ...ARGS, '--write', 'compose', '--yes']);
  expect(writeManifests).toHaveBeenCalledWith('compose', '/etc/cs', '9.9.9');
  expect(out).toContain('made /etc/cs/compose.yaml\n');
  expect(out.trimEnd().split('\n').at(-1)).toBe('next: docker compose up');
  const wrong = await run(['/etc/cs', ...ARGS, '--write', 'helm', '--yes']);
  expect([wrong.code, wrong.requests]).toEqual([2, []]);
  expect(wrong.err).toContain('--write: expected compose, systemd, kubernetes, got "helm"');
});
