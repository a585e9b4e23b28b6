import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { snippet } from '../support/doc-snippets';
import { compileIn, installedServer, link, run, type Tarball } from '../support/packed';
import { packedServer } from '../support/packed-once';

let project: string;
let tarball: Tarball;
let installed: string;
let cli: string;

/** The server's tarball in an empty project, with what a team's own programs need besides. */
beforeAll(async () => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-pack-')));
  tarball = await packedServer();
  installed = installedServer(tarball, project);
  link(project, '@types/node');
  cli = join(installed, 'dist', 'cli', 'main.js');
  writeFileSync(join(project, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
}, 180_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));
jest.setTimeout(180_000);

test('the tarball contains the compiled program, and no tests, sources or build files', () => {
  for (const needed of [
    'dist/client/index.js',
    'dist/client/index.d.ts',
    'dist/cli/main.js',
    'dist/gateway/inbox/assets/index.html',
    'docs/operate.md',
    'docs/rules/README.md',
    'package.json',
    'LICENSE',
  ])
    expect(tarball.files).toContain(needed);
  const unwanted = tarball.files.filter((path) =>
    /(^|\/)(test|tests|examples|bench|node_modules|\.countersign|assurance|images)\/|\.test\.|\.tsbuildinfo$|(?<!\.d)\.ts$|\.env/.test(
      path,
    ),
  );
  expect(unwanted).toEqual([]);
});

test('every package that the compiled entry points import is a declared dependency', () => {
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const missing = new Set<string>();
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, wanted = ''] of readFileSync(file, 'utf8').matchAll(/(?:require|import)\("([^"]+)"\)/g)) {
      if (wanted.startsWith('.'))
        visit(
          [wanted, `${wanted}.js`, `${wanted}/index.js`]
            .map((path) => join(dirname(file), path))
            .find((path) => path.endsWith('.js') && existsSync(path)) ?? file,
        );
      else if (!wanted.startsWith('node:') && !builtinModules.includes(wanted)) {
        const name = wanted
          .split('/')
          .slice(0, wanted.startsWith('@') ? 2 : 1)
          .join('/');
        if (dependencies[name] === undefined) missing.add(name);
      }
    }
  };
  visit(join(installed, 'dist', 'client', 'index.js'));
  visit(join(installed, 'dist', 'cli', 'main.js'));
  visit(join(installed, 'dist', 'compat', 'flyto', 'index.js'));
  expect(seen.size).toBeGreaterThan(20);
  expect([...missing]).toEqual([]);
});

test('only the exported entry points can be loaded, and the client is not one of them', () => {
  for (const path of ['countersign', 'countersign/dist/signing/keys', 'countersign/dist/client/index.js'])
    expect(() => run(process.execPath, ['--input-type=commonjs', '-e', `require('${path}')`], project)).toThrow(
      'ERR_PACKAGE_PATH_NOT_EXPORTED',
    );
});

test('a team can write a rule with the exports of the package, and the program runs it', async () => {
  const rule = `import { z } from 'zod';
import { defineRule, metadataEvidence, type Extension } from 'countersign/extend';

const friday = defineRule({
  name: 'acme_friday', pack: 'acme', logicRevision: 1, config: z.strictObject({}), sourceTools: '*', reads: ['metadata'],
  defaultLevel: 'confirm', why: 'The team is not available on Saturday', docs: 'https://acme.test/friday',
  apply: ({ diff, inputSha }) => diff.metadata['day'] === 'friday'
    ? { fires: true, reason: 'It is Friday', evidence: [metadataEvidence(inputSha, '/day')] }
    : { fires: false },
});
export const extension: Extension = { validators: [friday] };
`;
  await compileIn(project, 'rule.ts', rule);
  const bundle = `version: 1
name: acme
domain: shop
provider: none
model: none
targets:
  shop: { development: true, sourceTools: [SQLDryRun] }
groups:
  dba: { members: [alice] }
defaultGroup: dba
validators:
  - rule: acme_friday
`;
  writeFileSync(join(project, 'acme.policy.yaml'), bundle);
  writeFileSync(
    join(project, 'diffs.jsonl'),
    ['monday', 'friday']
      .map((day) => JSON.stringify({ id: day, sourceTool: 'SQLDryRun', raw: 'select 1', metadata: { day } }))
      .join('\n'),
  );
  const args = ['policy', 'eval', 'diffs.jsonl', '--policy', 'acme.policy.yaml', '--jsonl'];
  const env = { ...process.env, COUNTERSIGN_EXTENSIONS: join(project, 'rule.js') };
  const lines = run(process.execPath, [cli, ...args], project, env);
  expect(
    lines
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { outcome: string }).outcome),
  ).toEqual(['COMMIT', 'CONFIRM']);
});

test('a program can gate a diff with the exported validators, without a server [F1, F49, F63]', async () => {
  const program = `import { createHash } from 'node:crypto';
import { compositeValidator, FlytoLLMClient, LLMValidator, newValidatedTool, patternRule, ruleValidator, type DiffInput, type FlytoProvider } from 'countersign/validators';

const provider: FlytoProvider = {
  async *stream() { yield { type: 'text', text: '{"approved":true,"score":1,"reason":"","severity":""}' }; },
};
const model = new LLMValidator('model', 'v1', new FlytoLLMClient(provider, 'some-model', ''), '', 0);
const rules = ruleValidator('rules', 'v1', patternRule({ name: 'no_drop', forbidden: ['(?i)\\\\bdrop\\\\b'] }));
const tool = newValidatedTool('sql', compositeValidator('both', 'v1', 'waterfall', rules, model));
for (const text of ['select 1', 'drop table a']) {
  const raw = new TextEncoder().encode(text);
  const diff: DiffInput = { sourceTool: 'SQLDryRun', raw, diffSha: createHash('sha256').update(raw).digest('hex'), metadata: {} };
  console.log((await tool.gate({}, diff)).action);
}
`;
  await compileIn(project, 'gate.ts', program);
  expect(run(process.execPath, ['gate.js'], project)).toBe('commit\nrollback\n');
});

test('the program of compat/flyto/README.md compiles, and prints what the page says', async () => {
  const program = snippet('compat/flyto/README.md', 'gate.mts');
  await compileIn(project, 'gate.mts', program);
  expect(run(process.execPath, ['gate.mjs'], project)).toBe('rollback block\n');
  expect(program).toContain('// rollback block\n');
});

test('the module of docs/extend.md compiles, and its source tool and rule decide payouts', async () => {
  await compileIn(project, 'extension.cts', snippet('docs/extend.md', 'extension.cts'));
  writeFileSync(join(project, 'payouts.policy.yaml'), snippet('docs/extend.md', 'payouts.policy.yaml'));
  const payouts = [5000, 5001].map((cents) => JSON.stringify({ account: 'a', cents }));
  const lines = [...payouts, 'not a payout'].map((raw, i) =>
    JSON.stringify({ id: String(i), sourceTool: 'Payout', raw }),
  );
  writeFileSync(join(project, 'payouts.jsonl'), lines.join('\n'));
  const env = { ...process.env, COUNTERSIGN_EXTENSIONS: join(project, 'extension.cjs') };
  const args = ['policy', 'eval', 'payouts.jsonl', '--policy', 'payouts.policy.yaml', '--jsonl'];
  const printed = run(process.execPath, [cli, ...args], project, env);
  const outcomes = printed
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { outcome: string }).outcome);
  expect(outcomes).toEqual(['COMMIT', 'CONFIRM', 'CONFIRM']);
});

test('the module of docs/quickstart/guard.md compiles, and its policy asks about a large refund', async () => {
  const page = 'docs/quickstart/guard.md';
  await compileIn(project, 'refunds.cts', snippet(page, 'extension.cts'));
  writeFileSync(join(project, 'refunds.policy.yaml'), snippet(page, 'countersign.policy.yaml'));
  const refunds = [500, 9000].map((cents) => JSON.stringify({ order: 7, cents }));
  const lines = [...refunds, 'not a refund'].map((raw, i) =>
    JSON.stringify({ id: String(i), sourceTool: 'Refund', raw }),
  );
  writeFileSync(join(project, 'refunds.jsonl'), lines.join('\n'));
  const env = { ...process.env, COUNTERSIGN_EXTENSIONS: join(project, 'refunds.cjs') };
  const args = ['policy', 'eval', 'refunds.jsonl', '--policy', 'refunds.policy.yaml', '--jsonl'];
  const printed = run(process.execPath, [cli, ...args], project, env)
    .trim()
    .split('\n');
  const outcomes = printed.map((line) => (JSON.parse(line) as { outcome: string }).outcome);
  expect(outcomes).toEqual(['COMMIT', 'CONFIRM', 'CONFIRM']);
});

test('the rule for SQL of docs/extend.md compiles with the exported types of facts, and reads them', async () => {
  await compileIn(project, 'sql-rule.cts', snippet('docs/extend.md', 'sql-rule.cts'));
  const payouts = snippet('docs/extend.md', 'payouts.policy.yaml');
  const bundle = payouts
    .replace(/sourceTools: .*/, 'sourceTools: [SQLDryRun] }')
    .replace(/- rule: payout_limit\n.*/, '- rule: finance_invoices');
  writeFileSync(join(project, 'sql.policy.yaml'), bundle);
  const texts = ['update invoices set paid = true where id = 7', 'update orders set paid = true where id = 7'];
  const lines = texts.map((raw, i) => JSON.stringify({ id: String(i), sourceTool: 'SQLDryRun', raw }));
  writeFileSync(join(project, 'sql.jsonl'), lines.join('\n'));
  const env = { ...process.env, COUNTERSIGN_EXTENSIONS: join(project, 'sql-rule.cjs') };
  const printed = run(
    process.execPath,
    [cli, 'policy', 'eval', 'sql.jsonl', '--policy', 'sql.policy.yaml'],
    project,
    env,
  );
  const outcomes = printed
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { outcome: string }).outcome);
  expect(outcomes).toEqual(['CONFIRM', 'COMMIT']);
});

test('settings of the command line that cannot be read are one line and exit code 2', () => {
  const dir = join(project, 'unreadable');
  mkdirSync(join(dir, 'cli.env'), { recursive: true });
  const env = { ...process.env, COUNTERSIGN_STATE_DIR: dir };
  const { status, stderr } = spawnSync(process.execPath, [cli, 'doctor'], { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, expect.stringMatching(/^error: .*cli\.env: EISDIR.*\n$/)]);
});

test('the program prints its help without loading a worker, a database driver or the SQL parser, which are slow to load', () => {
  const script = `process.argv = [process.argv[0], ${JSON.stringify(cli)}, '--help']; process.on('exit', () => console.log('loaded', JSON.stringify(Object.keys(require.cache)))); require(${JSON.stringify(cli)});`;
  const printed = run(process.execPath, ['-e', script], project);
  expect(printed).toContain('Usage: countersign');
  const loaded = JSON.parse(/loaded (.*)/.exec(printed)?.[1] ?? '[]') as string[];
  expect(loaded.length).toBeGreaterThan(0);
  expect(loaded.filter((path) => /node_modules\/(@temporalio|pg|libpg-query|openai)\//.test(path))).toEqual([]);
});
