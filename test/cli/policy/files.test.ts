import { SOURCE_TOOLS } from '../../../source-tools';
import { starterBundle } from '../../../source-tools/starter-bundle';
import { writeLocalClient } from '../../../workers/local-client';
import { runCommand, temporaryFolder } from '../run-command';

const { path, write } = temporaryFolder();

const LOCAL_CLIENT = {
  temporalAddress: '127.0.0.1:7233',
  namespace: 'default',
  databaseUrl: '',
  operatorDatabaseUrl: '',
  gatewayUrl: '',
  tenant: 'acme',
  operators: [],
  committers: [],
};

it('names the hosts of a starter bundle for HTTP, which then compiles', async () => {
  const { code, out } = await runCommand([
    'policy',
    'init',
    '--tool',
    'HTTPPatch',
    '--hosts',
    'api.example.com, *.shop.internal',
  ]);
  expect(code).toBe(0);
  expect(out).toContain('http_unlisted_request: { config: { hosts: ["api.example.com", "*.shop.internal"] } }');
  expect((await runCommand(['policy', 'check', '-'], { stdin: out })).code).toBe(0);
});

it.each(['constructor', 'shop'])('refuses %s as a target that the bundle does not have', async (target) => {
  const file = write('bundle.yaml', starterBundle('SQLDryRun'));
  const line = JSON.stringify({ id: '1', sourceTool: 'SQLDryRun', raw: 'select 1' });
  const { code, out, err } = await runCommand(['policy', 'eval', '--policy', file, '--target', target], {
    stdin: line,
  });
  expect([code, out, err]).toEqual([2, '', expect.stringContaining(`--target: expected one of dev, got "${target}"`)]);
});

it.each([
  ['0', ['select 1', 'select 2'], ['COMMIT', 'COMMIT']],
  ['1', ['select 1', null, 'select 2'], ['COMMIT', undefined, 'COMMIT']],
])('evaluates every line, and exits with %s', async (exit, statements, outcomes) => {
  const file = write('bundle.yaml', starterBundle('SQLDryRun'));
  const lines = statements.map((raw, i) => JSON.stringify({ id: `${i}`, sourceTool: 'SQLDryRun', raw }));
  const { code, out } = await runCommand(['policy', 'eval', '--policy', file], { stdin: lines.join('\n') });
  const results = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { outcome?: string; error?: string });
  expect(results.map(({ outcome }) => outcome)).toEqual(outcomes);
  expect(results.map(({ error }) => error === undefined)).toEqual(outcomes.map((outcome) => outcome !== undefined));
  expect(code).toBe(Number(exit));
});

it('refuses hosts for a source tool without any', async () => {
  const { code, err } = await runCommand(['policy', 'init', '--tool', 'SQLDryRun', '--hosts', 'api.example.com']);
  expect([code, err]).toEqual([2, expect.stringContaining('--hosts: only HTTPPatch has hosts')]);
});

describe('a starter bundle for a source tool that is not registered', () => {
  const warning =
    '12:19 targets.dev.sourceTools[0]: Unknown source tool "SQLDryrun": it is not registered here\n' +
    '    Did you mean "SQLDryRun"? COUNTERSIGN_EXTENSIONS names the modules with tools of your own.\n';

  it('is written with the warning that policy check would refuse it', async () => {
    const text = starterBundle('SQLDryrun');
    const args = ['policy', 'init', '--tool', 'SQLDryrun'];
    expect(await runCommand(args)).toEqual({ code: 0, out: text, err: `bundle:${warning}` });
    const out = path('new.yaml');
    expect(await runCommand([...args, '--out', out])).toEqual({ code: 0, out: '', err: `${out}:${warning}` });
    const json = await runCommand([...args, '--json']);
    expect(JSON.parse(json.out)).toMatchObject({ warnings: [{ path: 'targets.dev.sourceTools[0]' }] });
    expect(await runCommand(['policy', 'check', out])).toMatchObject({ code: 1, out: `${out}:${warning}` });
  });
});

it.each([...SOURCE_TOOLS.map(({ sourceTool }) => sourceTool), 'Refund'])(
  'writes a starter bundle for %s that compiles, without a warning: it is built in or an extension registers it',
  async (tool) => {
    const options = { host: { env: { COUNTERSIGN_EXTENSIONS: 'test/support/shop-extension.ts' } } };
    const { code, out, err } = await runCommand(['policy', 'init', '--tool', tool], options);
    expect([code, err]).toEqual([0, '']);
    expect(await runCommand(['policy', 'check', '-'], { ...options, stdin: out })).toMatchObject({ code: 0, err: '' });
  },
);

it('compiles with the extensions that the state directory names, unless the environment names others', async () => {
  const file = write('bundle.yaml', starterBundle('SQLDryRun'));
  writeLocalClient(path('.'), { ...LOCAL_CLIENT, extensions: './missing-extension.js' });
  const env = { COUNTERSIGN_STATE_DIR: path('.') };
  const { err } = await runCommand(['policy', 'check', file], { host: { env } });
  expect(err).toContain('missing-extension.js');
  const none = { ...env, COUNTERSIGN_EXTENSIONS: '' };
  expect((await runCommand(['policy', 'check', file], { host: { env: none } })).code).toBe(0);
});

it('explain prints the place of an issue that is about the whole bundle without a path', async () => {
  const { code, err } = await runCommand(['policy', 'explain', write('text.yaml', 'a')], { stdin: 'select 1' });
  expect([code, err]).toEqual([2, expect.stringContaining('error: Invalid policy bundle:\n    1:1: Invalid input')]);
});

describe('a bundle on standard output', () => {
  const bundleText = 'version: 1 # \u00a0\u200b\tnot published again under another hash\n';
  const policy = { newestPublished: async () => ({ bundleText }) as never };

  it('is the file byte for byte, so that it can be published again', async () => {
    expect((await runCommand(['policy', 'show', '--bundle'], { remote: { policy } })).out).toBe(bundleText);
    expect((await runCommand(['policy', 'init', '--tool', 'SQLDryRun'])).out).toBe(starterBundle('SQLDryRun'));
  });

  it('is escaped on a terminal', async () => {
    expect((await runCommand(['policy', 'show', '--bundle'], { remote: { policy }, tty: true })).out).toBe(
      'version: 1 # ⟦U+00A0⟧⟦U+200B⟧⇥   not published again under another hash\n',
    );
  });
});

it.each([
  ['--metadata', '{', '--metadata: '],
  ['--metadata', '[1]', '--metadata: '],
  ['--staging', write('staging.json', '{}'), '--staging: sourceTool: '],
])('explain names the invalid option %s %s', async (option, value, message) => {
  const bundle = write('bundle.yaml', starterBundle('SQLDryRun'));
  const ran = await runCommand(['policy', 'explain', bundle, option, value], { stdin: 'select 1' });
  expect([ran.code, ran.out, ran.err]).toEqual([2, '', expect.stringContaining(`error: ${message}`)]);
});
