import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { compiled } from '../support/compiled';

let dist: string;
const folder = mkdtempSync(join(tmpdir(), 'countersign-modules-'));
beforeAll(async () => {
  dist = await compiled();
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * Reads, measures and renders a diff of every tool, as review and judge workers do. Prints which modules are loaded then, and loads
 * what stages the diffs, as a committer does.
 */
const WORK = `
const [dist] = process.argv.slice(1);
const { extensionsOf } = require(dist + '/workers/extensions.js');
const { inlineDerivation } = require(dist + '/activities/review/derivation.js');
const { validators, sourceTools: tools } = extensionsOf();
const A = 'a'.repeat(64);
(async () => {
  for (const sourceTool of tools.keys()) {
    const tool = tools.get(sourceTool);
    const diff = { sourceTool, raw: Buffer.from('{}'), diffSha: A, metadata: {} };
    const facts = await inlineDerivation({ tools, validators }).facts(diff);
    tool.texts(facts, diff);
    tool.measure(facts, diff);
    tool.render.render('{}');
  }
  process.stdout.write(JSON.stringify(Object.keys(require.cache)));
  for (const sourceTool of tools.keys()) await tools.get(sourceTool).staging?.();
})();
`;

const belowDist = (list: string): readonly string[] =>
  (JSON.parse(list) as readonly string[]).filter((path) => path.startsWith(dist)).map((path) => relative(dist, path));
const packageOf = (path: string): readonly string[] =>
  /.*node_modules\/((@[^/]+\/)?[^/]+)/.exec(path)?.slice(1, 2) ?? [];

/** Modules below dist/ and packages that a process had loaded when it ended, and what it printed. Throws if it ends with another exit code. */
async function loadedBy(args: readonly string[], expectedCode = 0) {
  const list = join(folder, 'modules.json');
  const preload = join(folder, 'preload.cjs');
  writeFileSync(
    preload,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify(Object.keys(require.cache))));`,
  );
  const { code, output } = await new Promise<{ code: number | string; output: string }>((resolve) => {
    const options = { env: { PATH: process.env['PATH'] } };
    execFile(process.execPath, ['--require', preload, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? -1), output: `${stdout}${stderr}` }),
    );
  });
  if (code !== expectedCode) throw new Error(`expected exit code ${expectedCode}, got ${code}: ${output}`);
  const paths = readFileSync(list, 'utf8');
  rmSync(list);
  const packages = new Set((JSON.parse(paths) as readonly string[]).flatMap(packageOf));
  return { loaded: belowDist(paths), packages, output };
}

type Entry = Awaited<ReturnType<typeof loadedBy>>;
const entries = new Map<string, Promise<Entry>>();
/** What an entry of `workers/` loads. Without settings it exits with 2 (configuration error) after its modules are loaded. */
function loadedByEntry(name: string): Promise<Entry> {
  const loading = entries.get(name) ?? loadedBy([join(dist, 'workers', `${name}.js`)], 2);
  entries.set(name, loading);
  return loading;
}

const isStaging = (path: string): boolean => /^source-tools\/[^/]+\/staging\//.test(path);

it.each(['review', 'judge', 'commit'])(
  'the entry of the %s worker loads every tool and no staging code',
  async (name) => {
    const { loaded } = await loadedByEntry(name);
    expect(loaded).toEqual(
      expect.arrayContaining(['sql', 'git', 'http', 'terraform'].map((t) => `source-tools/${t}/index.js`)),
    );
    expect(loaded.filter(isStaging)).toEqual([]);
  },
);

it.each([
  ['review', ['hono', '@hono/node-server', 'nodemailer', 'openai']],
  ['judge', ['hono', '@hono/node-server', 'nodemailer']],
  ['commit', ['hono', '@hono/node-server', 'nodemailer', 'openai']],
  ['gateway', ['@temporalio/worker', '@temporalio/core-bridge', 'nodemailer', 'openai']],
  ['codec', ['@temporalio/worker', '@temporalio/core-bridge', 'pg']],
])('the entry of %s does not load %j', async (name, unneeded) => {
  const { packages } = await loadedByEntry(name);
  expect(packages).toContain('zod');
  expect(unneeded.filter((each) => packages.has(each))).toEqual([]);
});

it('reading, measuring and rendering the diffs of every tool loads no staging code; a committer that stages loads it', async () => {
  const { loaded, output } = await loadedBy(['-e', WORK, dist]);
  const before = belowDist(output);
  expect(before).toContain('source-tools/git/facts/texts.js');
  expect(before.filter(isStaging)).toEqual([]);
  for (const tool of ['sql', 'git', 'http']) expect(loaded).toContain(`source-tools/${tool}/staging/index.js`);
});
