import { createServer, type AddressInfo } from 'node:net';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDev, type DevOptions } from '../../dev/start';
import { ConfigError } from '../../workers/config-error';

const dir = mkdtempSync(join(tmpdir(), 'countersign-start-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** The message of the ConfigError with which the start is refused. */
async function refused(options: Pick<DevOptions, 'stateDir' | 'gatewayPort'>): Promise<string> {
  // An address without a server: without the refusal, the start would go on to it.
  const env = { TEMPORAL_ADDRESS: '127.0.0.1:9', COUNTERSIGN_DATABASE_ADMIN_URL: 'postgres://x@127.0.0.1:9/x' };
  const started = startDev({ say: () => {}, bundleText: '', targets: [], runtime: { env }, ...options });
  const error: unknown = await started.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  return String(error);
}

test('dev and demo refuse a directory of init, and change none of its files', async () => {
  for (const name of ['cli.env', 'trust.json', 'targets.json']) writeFileSync(join(dir, name), `${name} of init\n`);
  const files = (): string[][] => readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]);
  const before = files();
  expect(await refused({ stateDir: dir })).toContain('was made by "countersign init"');
  expect(files()).toEqual(before);
});

test('dev refuses a port that is in use before it starts anything, because another server would answer there', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stateDir = join(dir, 'busy');
  expect(await refused({ stateDir, gatewayPort: port })).toContain(`Port ${port} of 127.0.0.1 is in use`);
  expect(existsSync(stateDir)).toBe(false);
  await new Promise((resolve) => server.close(resolve));
});

test('dev says which directory it cannot use, and how to choose another', async () => {
  const file = join(dir, 'file');
  writeFileSync(file, '');
  for (const stateDir of [file, join(file, 'below')]) {
    const message = await refused({ stateDir });
    expect(message).toContain(`cannot keep their data in ${stateDir}`);
    expect(message).toContain('Set COUNTERSIGN_STATE_DIR');
  }
});
