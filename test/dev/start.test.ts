import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDev } from '../../dev/start';
import { ConfigError } from '../../workers/config-error';

const dir = mkdtempSync(join(tmpdir(), 'countersign-start-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('dev and demo refuse a directory of init, and change none of its files', async () => {
  for (const name of ['cli.env', 'trust.json', 'targets.json']) writeFileSync(join(dir, name), `${name} of init\n`);
  const files = (): string[][] => readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]);
  const before = files();
  // An address without a server: without the refusal, the start would go on to it.
  const env = { TEMPORAL_ADDRESS: '127.0.0.1:9', COUNTERSIGN_DATABASE_ADMIN_URL: 'postgres://x@127.0.0.1:9/x' };
  const started = startDev({ stateDir: dir, say: () => {}, bundleText: '', targets: [], runtime: { env } });
  const refused: unknown = await started.catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ConfigError);
  expect(String(refused)).toContain('was made by "countersign init"');
  expect(files()).toEqual(before);
});
