import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { query } from '../../dev/query';
import { snippet } from '../support/doc-snippets';
import { eventually } from '../support/eventually';
import { freeGatewayPort } from '../support/free-gateway-port';
import { ownServers, type OwnServers } from '../support/own-servers';
import { compileIn, emptyProject, installedServer, link, type Tarball } from '../support/packed';
import { packedClient, packedServer } from '../support/packed-once';

const PAGE = 'docs/quickstart/gateway.md';
const commandsOf = (name: string): string[] => snippet(PAGE, name).trim().split('\n');
const COMMANDS = commandsOf('own-servers.sh');
const BIN = join('node_modules', '.bin', 'countersign');
jest.setTimeout(300_000);

let servers: OwnServers;
let server: Tarball;
let scratch: string;
let project: string;
/** The folder of Alice, on a machine with nothing but the package. */
let alices: string;
let port: number;
let up: ChildProcess | undefined;
let log = '';

beforeAll(async () => {
  servers = await ownServers();
  await servers.createDatabase('shop');
  await query(servers.adminUrl('shop'), 'create table items (id int primary key, stock int not null)');
  await query(servers.adminUrl('shop'), 'insert into items values (1, 10), (2, 20)');
  port = await freeGatewayPort();
  scratch = mkdtempSync(join(tmpdir(), 'countersign-newcomer-'));
});
afterAll(async () => {
  up?.kill('SIGKILL');
  await servers.stop();
  for (const path of [scratch, project, alices].filter((each) => each !== undefined))
    rmSync(path, { recursive: true, force: true });
});

/**
 * The command of the page with the addresses of this test. `npx` starts npm, which takes longer than the command, so that only `keys new`
 * and `up` run through it.
 */
function adapted(command: string): string {
  const direct = command.includes('keys new') ? command : command.replaceAll('npx countersign', BIN);
  return direct
    .replaceAll(/postgres:\/\/postgres:secret@127\.0\.0\.1:5432\/(\w+)/g, (_, name: string) => servers.adminUrl(name))
    .replace('../operator.key.json', join(scratch, 'operator.key.json'))
    .replace('init --yes', `init --yes --gateway-port ${port}`)
    .replace('node gateway.mts', `COUNTERSIGN_GATEWAY_URL=http://127.0.0.1:${port} node gateway.mjs`)
    .replace('login http://127.0.0.1:8077', `login http://127.0.0.1:${port}`);
}

/** The program of the page. It waits only two seconds for the change of `ask.sh`, which is answered after the program has ended. */
function program(): string {
  const text = snippet(PAGE, 'gateway.mts');
  expect(text).toContain('timeoutMs: 60_000');
  return text.replace('timeoutMs: 60_000', 'timeoutMs: process.argv.length > 2 ? 2_000 : 60_000');
}

const env = (): NodeJS.ProcessEnv => ({
  ...bareEnv(),
  TEMPORAL_ADDRESS: servers.temporalAddress,
  TEMPORAL_NAMESPACE: servers.namespace,
});

/** Without any setting of Countersign or of Temporal. */
function bareEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(COUNTERSIGN|TEMPORAL)_/.test(name)));
}

function shell(command: string): string {
  try {
    return execFileSync('sh', ['-c', adapted(command)], { cwd: project, env: env(), encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    throw new Error(`${String(error)}\n${log}\n${endOfLogs()}`, { cause: error });
  }
}

/** The last lines that the processes logged: why a command of the page failed. */
function endOfLogs(): string {
  const logs = join(project, '.countersign', 'logs');
  if (!existsSync(logs)) return '';
  const last = (name: string): string => readFileSync(join(logs, name), 'utf8').split('\n').slice(-15).join('\n');
  return readdirSync(logs)
    .map((name) => `${name}:\n${last(name)}`)
    .join('\n');
}

/** Runs a command of the page as Alice: it has her key and the trust roots, and neither a database nor Temporal. */
const alice = (command: string): string =>
  execFileSync('sh', ['-c', adapted(command)], {
    cwd: alices,
    env: { ...bareEnv(), HOME: alices, XDG_CONFIG_HOME: join(alices, '.config') },
    encoding: 'utf8',
    stdio: 'pipe',
  });

/** The one command of the page that contains `text`. */
function command(text: string): string {
  const [only, ...more] = COMMANDS.filter((each) => each.includes(text));
  if (only === undefined || more.length > 0) throw new Error(`${PAGE}: expected one command with ${text}`);
  return only;
}

test('the set-up of the page has at most six commands and one file that a person writes', () => {
  expect(COMMANDS.length).toBeLessThanOrEqual(6);
  expect(snippet(PAGE, 'policy.yaml')).toContain('sql-postgres');
});

test('the commands of the page lead from two servers to a verified commit', async () => {
  // `npm install` of the page, without a network.
  expect(command('npm install')).toMatch(/countersign-0\.2\.0\.tgz .*countersign-client-0\.2\.0\.tgz/);
  project = emptyProject('module', await packedClient());
  server = await packedServer();
  installedServer(server, project);
  writeFileSync(join(project, 'policy.yaml'), snippet(PAGE, 'policy.yaml'));
  link(project, '@types/node');
  await compileIn(project, 'gateway.mts', program());

  shell(command('keys new'));
  const printed = shell(command('init'));
  expect(printed).not.toContain('FAIL');
  expect(printed).toContain('next: countersign up');

  expect(command('countersign up')).toMatch(/ &$/);
  up = spawn('npx', ['countersign', 'up'], { cwd: project, env: env(), stdio: 'pipe', detached: true });
  for (const stream of [up.stdout, up.stderr]) stream?.on('data', (chunk: Buffer) => (log += chunk.toString('utf8')));
  await eventually('the gateway is ready', () => log.includes(`gateway  http://127.0.0.1:${port}`), {
    withinMs: 120_000,
  });

  expect(shell(command('gateway.mts'))).toBe('committed, receipt verified: true\n');
  expect(await query(servers.adminUrl('shop'), 'select stock from items where id = 1')).toEqual([{ stock: 11 }]);
});

test('the commands of the page lead a change that asks through the gateway to verified evidence', async () => {
  const [ask = '', ...more] = commandsOf('ask.sh');
  expect(more).toEqual([]);
  const [, id = ''] = /^not ended yet: countersign show ([0-9a-f]{64})$/m.exec(shell(ask)) ?? [];
  alices = mkdtempSync(join(tmpdir(), 'countersign-alice-'));
  mkdirSync(join(alices, 'node_modules'));
  installedServer(server, alices);
  copyFileSync(join(project, 'alice.key.json'), join(alices, 'alice.key.json'));
  copyFileSync(join(project, '.countersign', 'trust.json'), join(alices, 'trust.json'));

  const printed = new Map<string, string>();
  for (const each of commandsOf('alice.sh')) {
    const [, name = ''] = /^npx countersign (\w+)/.exec(each) ?? [];
    printed.set(name, alice(each.replace(/\bID\b/, id)));
    if (name === 'login')
      await eventually('the change waits for Alice', async () => {
        const disclosed = `select 1 from ledger where change_id = '${id}' and kind = 'disclosed'`;
        return (await query(servers.adminUrl('countersign'), disclosed)).length > 0;
      });
  }
  expect([...printed.keys()]).toEqual(['login', 'list', 'show', 'answer', 'result', 'export', 'verify']);
  const says = (name: string): string => printed.get(name) ?? '';
  expect(says('login')).toMatch(/subject +person:alice/);
  expect(says('list')).toContain('INTERVENTION_REQUIRED');
  expect(says('list')).toContain('UPDATE items: 2 rows');
  expect(says('list')).toContain(id.slice(0, 8));
  expect(says('show')).toContain('update items set stock = 0');
  expect(says('show')).toMatch(/stock: "11" → "0"/);
  expect(says('answer')).toContain('accepted');
  expect(says('result')).toMatch(/COMMITTED.*verified/);
  expect(says('verify')).toMatch(/^verified COMMITTED, enforced/m);
}, 240_000);

test('doctor passes while everything runs', () => {
  expect(shell('npx countersign doctor')).not.toContain('FAIL');
});

test('up starts a process that crashed again, and stops all of them on Ctrl-C', async () => {
  const [, pid = ''] = /gateway runs as process (\d+)/.exec(log) ?? [];
  process.kill(Number(pid), 'SIGKILL');
  await eventually('the gateway runs again', () => log.match(/gateway runs as process/g)?.length === 2);
  const pids = [...log.matchAll(/runs as process (\d+)/g)].map(([, each = '']) => Number(each));
  const ended = new Promise<number | null>((resolve) => up?.once('exit', resolve));
  // As a terminal does: to the whole process group.
  process.kill(-(up?.pid ?? 0), 'SIGINT');
  await ended;
  expect(readFileSync(join(project, '.countersign', 'logs', 'gateway.log'), 'utf8')).toContain('listening');
  await eventually('all processes have ended', () => !pids.some(isRunning));
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
