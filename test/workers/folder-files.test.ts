import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../workers/config-error';
import { commandEnv, formatEnvFile } from '../../workers/env-file';
import { extensionsSetting, knownSettings, writeLocalClient } from '../../workers/local-client';

const before = process.cwd();
const folder = mkdtempSync(join(tmpdir(), 'countersign-folder-'));
const dir = join(folder, '.countersign');
beforeEach(() => {
  mkdirSync(dir);
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(before);
  rmSync(dir, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

const OLGA = 'a'.repeat(64);
const DATABASE = 'postgres://cs_gateway:x@127.0.0.1:5432/countersign';
const OPERATOR = 'postgres://cs_operator:x@127.0.0.1:5432/countersign';

/** As `init` writes it. */
function cliEnv(values: Readonly<Record<string, string>>, mode = 0o600): void {
  writeFileSync(join(dir, 'cli.env'), formatEnvFile(values));
  chmodSync(join(dir, 'cli.env'), mode);
}

/** As `dev` writes it. */
function started(mode = 0o600): void {
  const at = { temporalAddress: '127.0.0.1:9', namespace: 'dev', gatewayUrl: 'http://127.0.0.1:8077' };
  const databases = { databaseUrl: DATABASE, operatorDatabaseUrl: OPERATOR };
  writeLocalClient(dir, {
    ...at,
    ...databases,
    tenant: 'dev',
    operators: [OLGA],
    committers: ['b'],
    extensions: './x',
  });
  chmodSync(join(dir, 'client.json'), mode);
}

test('settings of this folder count if only their user can read them', () => {
  cliEnv({ COUNTERSIGN_TENANT: 'acme' });
  started();
  expect(commandEnv({ A: '1' })).toEqual({ A: '1', COUNTERSIGN_TENANT: 'acme' });
  expect(extensionsSetting({})).toBe('./x');
});

test.each([0o644, 0o640, 0o664])(
  'settings of this folder that others can read, as after a clone, are an error, and count if the shell names the directory: %o',
  (mode) => {
    cliEnv({ COUNTERSIGN_TENANT: 'acme' }, mode);
    started(mode);
    for (const read of [() => commandEnv({}), () => extensionsSetting({}), () => knownSettings({})]) {
      expect(read).toThrow(ConfigError);
      expect(read).toThrow(/chmod 600 .*COUNTERSIGN_STATE_DIR/);
    }
    const shell = { COUNTERSIGN_STATE_DIR: '.countersign' };
    expect(commandEnv(shell)).toEqual({ ...shell, COUNTERSIGN_TENANT: 'acme' });
    expect(extensionsSetting(shell)).toBe('./x');
  },
);

test('dev closes a file that others could read', () => {
  writeFileSync(join(dir, 'client.json'), '{}', { mode: 0o644 });
  writeLocalClient(dir, {
    ...knownSettings({ COUNTERSIGN_STATE_DIR: '/nowhere' }),
    databaseUrl: '',
    operatorDatabaseUrl: '',
  });
  expect(extensionsSetting({})).toBe('');
});

test('a file cli.env names no other state directory', () => {
  cliEnv({ COUNTERSIGN_STATE_DIR: '/elsewhere', COUNTERSIGN_TENANT: 'acme' });
  expect(commandEnv({})).toEqual({ COUNTERSIGN_TENANT: 'acme' });
});

describe('if the shell names the database, this folder', () => {
  const OTHER = { COUNTERSIGN_DATABASE_URL: 'postgres://cs_gateway:x@db.example/countersign' };
  const SAME = { COUNTERSIGN_DATABASE_URL: 'postgres://cs_gateway:new@localhost/countersign' };

  test('sets the rest for the same one, in any notation and with another password', () => {
    started();
    expect(knownSettings(SAME)).toMatchObject({ operatorDatabaseUrl: OPERATOR, operators: [OLGA], namespace: 'dev' });
    rmSync(join(dir, 'client.json'));
    cliEnv({ COUNTERSIGN_DATABASE_URL: DATABASE, COUNTERSIGN_OPERATOR_DATABASE_URL: OPERATOR });
    expect(commandEnv(SAME)).toEqual({ ...SAME, COUNTERSIGN_OPERATOR_DATABASE_URL: OPERATOR });
  });

  test('sets nothing for another one: neither its operator database nor whom it trusts', () => {
    started();
    expect(knownSettings(OTHER)).toMatchObject({
      operatorDatabaseUrl: OTHER.COUNTERSIGN_DATABASE_URL,
      operators: [],
      namespace: 'default',
    });
    rmSync(join(dir, 'client.json'));
    cliEnv({ COUNTERSIGN_DATABASE_URL: DATABASE, COUNTERSIGN_OPERATOR_DATABASE_URL: OPERATOR });
    expect(commandEnv(OTHER)).toEqual(OTHER);
  });
});
