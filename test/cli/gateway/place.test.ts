import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { placeOf } from '../../../cli/gateway/place';
import { remoteModules } from '../../../cli/remote-modules';
import { writeLocalClient } from '../../../workers/local-client';
import { runCommand, temporaryFolder, type CommandRun } from '../run-command';
import { gatewayWorld, type GatewayWorld } from './gateway-world';

const folder = temporaryFolder();
let g: GatewayWorld;
beforeAll(async () => {
  g = await gatewayWorld(folder);
  expect(await g.run(g.login())).toMatchObject({ code: 0, err: '' });
  servers('dev', 'http://127.0.0.1:9');
  servers('same', g.url.replace('127.0.0.1', 'localhost'));
});
afterAll(async () => await g.stop());

/** The state directory of servers that have stopped: commands that use them fail with another message than those of the gateway. */
function servers(name: string, gatewayUrl: string, { operators, committers } = g.world.trust): void {
  mkdirSync(g.path(name));
  const databaseUrl = 'postgres://cs_gateway:x@127.0.0.1:9/none';
  writeLocalClient(g.path(name), {
    temporalAddress: '127.0.0.1:9',
    namespace: 'default',
    databaseUrl,
    operatorDatabaseUrl: databaseUrl,
    gatewayUrl,
    tenant: 'acme',
    operators: [...operators],
    committers: [...committers],
  });
}

const CONFIG = () => ({ XDG_CONFIG_HOME: g.path('config') });
const stateDir = (name: string) => ({ COUNTERSIGN_STATE_DIR: g.path(name) });
const DATABASE = { COUNTERSIGN_DATABASE_URL: 'postgres://cs_gateway:x@127.0.0.1:9/none' };

/** Runs a command with a login and these variables of the shell, in a folder whose state directory is `dir` and sets `stored`. */
function run(
  args: readonly string[],
  shell: Readonly<Record<string, string>>,
  dir = 'none',
  stored: Readonly<Record<string, string>> = {},
): Promise<CommandRun> {
  const shellEnv = { ...CONFIG(), ...shell };
  const env = { ...stateDir(dir), ...stored, ...shellEnv };
  return runCommand(args, { host: { env, shellEnv, remote: remoteModules } });
}

const DIRECT = { code: 1, err: expect.stringContaining('Reviews cannot be listed') };

it('uses the servers of a state directory that the shell names, and not the gateway of an earlier login, and says so', async () => {
  const listed = await run(['list'], stateDir('dev'));
  expect(listed).toMatchObject(DIRECT);
  expect(listed.err).toContain(
    `uses the servers of ${g.path('dev')} (COUNTERSIGN_STATE_DIR), not the gateway ${g.url} of your login`,
  );
  const key = ['--operator-key', g.key('alice')];
  const shown = await run(['policy', 'show', ...key], stateDir('dev'));
  expect(shown).toMatchObject({ code: 1, err: expect.stringContaining('not the gateway') });
  expect(await run(['whoami'], stateDir('dev'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('COUNTERSIGN_STATE_DIR'),
  });
});

it('sends nothing to the gateway of the login if nothing was started in the state directory that the shell names', async () => {
  const submit = ['submit', g.path('trust.json'), '--target', 'shop', '--tool', 'SQLCAS'];
  for (const args of [['list'], submit, ['answer', g.open, '--all', '--confirm', '--key', g.key('alice')]]) {
    const { code, err } = await run(args, stateDir('mistyped'));
    expect(code).toBe(2);
    expect(err).toContain(`not the gateway ${g.url} of your login`);
    expect(err).toContain('needs the database');
  }
});

it('uses the login to the gateway of the servers that the shell names', async () => {
  expect(await run(['list'], stateDir('same'))).toMatchObject({
    code: 0,
    out: expect.stringContaining(g.open),
    err: '',
  });
});

it('uses the login although servers were started in this folder, and says how to use those', async () => {
  const listed = await run(['list'], {}, 'dev');
  expect(listed).toMatchObject({ code: 0, out: expect.stringContaining(g.open) });
  expect(listed.err).toBe(
    `uses the gateway ${g.url} of your login, not the servers of ${g.path('dev')}: for those set COUNTERSIGN_STATE_DIR=${g.path('dev')}\n`,
  );
  expect(await run(['list'], {}, 'same')).toMatchObject({ code: 0, err: '' });
});

it('uses the database that the shell or cli.env names, and says that it is not the gateway of the login', async () => {
  const note = `uses the database of COUNTERSIGN_DATABASE_URL, not the gateway ${'URL'} of your login`;
  for (const listed of [await run(['list'], DATABASE), await run(['list'], {}, 'none', DATABASE)]) {
    expect(listed).toMatchObject(DIRECT);
    expect(listed.err).toContain(note.replace('URL of', `${g.url} of`));
  }
});

it('says nothing about another place if the directory that the shell names has a cli.env with the database', async () => {
  const host = { env: { ...stateDir('none'), ...DATABASE }, shellEnv: stateDir('none') };
  expect(placeOf(host)).toEqual({ gateway: null, note: null });
  const named = { ...stateDir('none'), ...DATABASE };
  expect(placeOf({ env: named, shellEnv: named }).note).toBe(
    `uses the database of COUNTERSIGN_DATABASE_URL, not the servers of ${g.path('none')} (COUNTERSIGN_STATE_DIR)`,
  );
});

describe('COUNTERSIGN_GATEWAY_URL of the shell', () => {
  const variables = () => ({ ...g.variables(), COUNTERSIGN_GATEWAY_URL: `${g.url}/` });

  it('is used, and not the database of a cli.env that is only in this folder', async () => {
    expect(await run(['list'], variables(), 'none', DATABASE)).toMatchObject({
      code: 0,
      out: expect.stringContaining(g.open),
      err: expect.stringContaining('of COUNTERSIGN_GATEWAY_URL, not the database of COUNTERSIGN_DATABASE_URL'),
    });
  });

  it('is not used if the shell names the database, or the directory of a cli.env with one', async () => {
    expect(await run(['list'], { ...variables(), ...DATABASE })).toMatchObject(DIRECT);
    expect(await run(['list'], { ...variables(), ...stateDir('none') }, 'none', DATABASE)).toMatchObject(DIRECT);
  });

  it('is used instead of another gateway of the login, and the command says so', async () => {
    const listed = await run(['list'], { ...variables(), COUNTERSIGN_GATEWAY_URL: 'http://127.0.0.1:9' });
    expect(listed).toMatchObject({ code: 1, err: expect.stringContaining('127.0.0.1:9') });
    expect(listed.err).toContain(`not the gateway ${g.url} of your login`);
  });
});

it('login says if commands here do not use it', async () => {
  expect(await run(g.login(), stateDir('dev'))).toMatchObject({
    code: 0,
    err: expect.stringContaining('not the gateway'),
  });
});

describe('the folder of a repository that came from elsewhere', () => {
  it('chooses neither the trusted keys nor the key and tenant at the gateway of a login or of the shell', async () => {
    writeFileSync(g.path('came.json'), JSON.stringify({ operators: ['0'.repeat(64)], committers: [] }));
    const came = {
      COUNTERSIGN_TRUST_FILE: g.path('came.json'),
      COUNTERSIGN_KEY_FILE: g.path('none.key.json'),
      COUNTERSIGN_TENANT: 'came',
    };
    const trust = { COUNTERSIGN_TRUST_FILE: g.path('trust.json') };
    for (const shell of [{}, { COUNTERSIGN_GATEWAY_URL: g.url }, { COUNTERSIGN_GATEWAY_URL: g.url, ...trust }])
      expect(await run(['show', g.open], shell, 'none', came)).toMatchObject({ code: 0, err: '' });
    expect(await run(['whoami', '--json'], {}, 'none', came)).toMatchObject({
      code: 0,
      out: expect.stringContaining('"tenant":"acme"'),
    });
  });

  it('names no other login, and logout removes only that of the user', async () => {
    const elsewhere = { XDG_CONFIG_HOME: g.path('elsewhere') };
    await g.run(g.login(), elsewhere);
    const shellEnv = { HOME: g.path('home') };
    const host = { env: { ...stateDir('none'), ...elsewhere, ...shellEnv }, shellEnv, remote: remoteModules };
    expect(await runCommand(['list'], { host })).toMatchObject({ code: 2 });
    expect(await runCommand(['logout'], { host })).toMatchObject({ out: 'there was no login\n' });
    expect(await g.run(['list'], elsewhere)).toMatchObject({ code: 0 });
  });
});

it('uses the servers and not the login if they were made again at the same address', async () => {
  servers('again', g.url, { operators: ['1'.repeat(64)], committers: ['2'.repeat(64)] });
  const listed = await run(['list'], stateDir('again'));
  expect(listed).toMatchObject(DIRECT);
  expect(listed.err).toContain('not the gateway');
});

it('uses a login for the same address in another notation, and not for another path of it', async () => {
  const trust = { COUNTERSIGN_TRUST_FILE: g.path('trust.json') };
  const at = (url: string) => run(['list'], { ...trust, COUNTERSIGN_GATEWAY_URL: url });
  expect(await at(`${g.url.replace('127.0.0.1', 'localhost')}/`)).toMatchObject({ code: 0, err: '' });
  const other = await at(`${g.url}/other`);
  expect(other).toMatchObject({ code: 2, err: expect.stringContaining('--key is missing') });
  expect(other.err).toContain('not the gateway');
});

it('prints on standard error one JSON document a line, with --json', async () => {
  const { out, err } = await run(['list', '--json'], {}, 'dev');
  expect(JSON.parse(out)).toBeDefined();
  expect(JSON.parse(err)).toEqual({ note: expect.stringContaining('not the servers of') });
  const failed = await run(['list', '--json'], stateDir('dev'));
  expect(
    failed.err
      .trimEnd()
      .split('\n')
      .map((each) => Object.keys(JSON.parse(each) as object)),
  ).toEqual([['note'], ['error']]);
});

describe('a file that is damaged', () => {
  const damaged = () => {
    mkdirSync(g.path('damaged/countersign'), { recursive: true });
    writeFileSync(g.path('damaged/countersign/login.json'), '{', { mode: 0o600 });
    return { XDG_CONFIG_HOME: g.path('damaged') };
  };

  it('of a login is ignored if variables name the gateway, and is an error if the login would be used', async () => {
    expect(await run(['list'], { ...damaged(), ...g.variables() })).toMatchObject({ code: 0 });
    expect(await run(['list'], damaged())).toMatchObject({
      code: 2,
      err: expect.stringContaining('Run "countersign login" again'),
    });
  });

  it('of servers does not undo a login, which says that commands here fail', async () => {
    mkdirSync(g.path('broken'));
    writeFileSync(join(g.path('broken'), 'client.json'), '{', { mode: 0o600 });
    expect(await run(g.login(), {}, 'broken')).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^a command here fails: .*client\.json/),
    });
  });
});
