import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useExistingPostgres, type PostgresServer } from '../../dev/embedded/postgres';
import { query } from '../../dev/query';
import { setUpDev, type DevSetup } from '../../dev/setup';
import { starterBundle } from '../../source-tools/starter-bundle';
import { ConfigError } from '../../workers/config-error';
import { extensionsOf } from '../../workers/extensions';
import { testServer } from '../support/test-server';

jest.setTimeout(60_000);
let started: PostgresServer;
/** The same server, as one that was not started here. */
let existing: PostgresServer;
const scratch = mkdtempSync(join(tmpdir(), 'countersign-setup-'));

beforeAll(async () => {
  started = await testServer(true);
  existing = await useExistingPostgres(started.superuserUrl('postgres'), () => {});
});
afterAll(async () => {
  await started.stop();
  rmSync(scratch, { recursive: true, force: true });
});

const setUp = (stateDir: string, postgres = existing, rotate = false): Promise<DevSetup> =>
  setUpDev({
    runtime: { postgres, stateDir: join(scratch, stateDir) },
    extensions: extensionsOf(),
    bundleText: starterBundle('SQLDryRun'),
    targets: [],
    rotate,
    say: () => {},
  });

const logIn = ({ databaseUrls }: DevSetup): Promise<unknown> =>
  Promise.all(Object.values(databaseUrls).map((url) => query(url, 'select from schema_info')));

test('on a server that was not started here, dev keeps its own passwords and refuses to replace those of another installation', async () => {
  const first = await setUp('first');
  const refused: unknown = await setUp('second').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ConfigError);
  expect(String(refused)).toMatch(/Role cs_review exists on this server.*unset the variable.*--rotate/);
  await logIn(first);
  expect((await setUp('first')).databaseUrls).toEqual(first.databaseUrls);
});

test('on a server that was not started here, dev sets passwords that it no longer knows only with --rotate', async () => {
  const before = await setUp('rotated', existing, true);
  rmSync(join(scratch, 'rotated', 'role-passwords.json'));
  await expect(setUp('rotated')).rejects.toThrow('left from an earlier dev or demo, give --rotate');
  await logIn(before);
  await logIn(await setUp('rotated', existing, true));
  await expect(logIn(before)).rejects.toThrow('password authentication failed');
  // Also with other keys than those that the database knows.
  rmSync(join(scratch, 'rotated'), { recursive: true });
  await logIn(await setUp('rotated', existing, true));
});

test('on the server of its own state directory, dev sets passwords again that it does not know', async () => {
  await logIn(await setUp('third', started));
});
