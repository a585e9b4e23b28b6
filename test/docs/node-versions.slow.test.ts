import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const json = (path: string) => JSON.parse(read(path)) as { engines: { node: string } };
const MINIMUM = '20.20';

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly engines?: { readonly node?: string }; readonly dev?: boolean }>
  >;
}

test('packages, lock file and pages name the same minimum, and Node 22 and 24', () => {
  const lock = JSON.parse(read('package-lock.json')) as Lock;
  const declared = [json('package.json').engines.node, json('client/package.json').engines.node];
  expect([...declared, lock.packages['']?.engines?.node]).toEqual(Array.from({ length: 3 }, () => `>=${MINIMUM}`));
  for (const page of ['README.md', 'docs/operate.md'])
    expect(read(page)).toContain(`Node ${MINIMUM} or later; CI tests 20, 22 and 24.`);
  for (const page of ['client/README.md', 'scripts/run.mjs'])
    expect(read(page)).toContain(`Node 22 or 24 (minimum: ${MINIMUM})`);
});

/** What README shows. Only the versions in its line `current` depend on the machine. */
function warningInReadme(): readonly string[] {
  const [, block = ''] = /^```text\n(npm warn EBADENGINE[^]*?)^```$/m.exec(read('README.md')) ?? [];
  return block.trimEnd().split('\n').map(withoutVersions);
}

function withoutVersions(line: string): string {
  return line.replace(/(current: ).*/, '$1…');
}

test('the warning of npm in README is the only one about a package that processes use', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-engines-'));
  try {
    for (const name of ['package.json', 'package-lock.json']) cpSync(join(ROOT, name), join(folder, name));
    const args = ['ci', '--dry-run', '--omit=dev', '--offline', '--ignore-scripts'];
    const { stderr } = await promisify(execFile)('npm', args, { cwd: folder, maxBuffer: 2 ** 24 });
    const printed = stderr.split('\n').filter((line) => line.includes('EBADENGINE'));
    const old = Number(process.versions.node.split('.')[0]) < 22;
    expect(printed.map(withoutVersions)).toEqual(old ? warningInReadme() : []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the package of the warning and what it requires are those of the lock file', () => {
  const { version, engines } = JSON.parse(read('node_modules/openai/package.json')) as {
    version: string;
    engines: { node: string };
  };
  expect(
    warningInReadme()
      .slice(1, 3)
      .map((line) => line.trimEnd()),
  ).toEqual([
    `npm warn EBADENGINE   package: 'openai@${version}',`,
    `npm warn EBADENGINE   required: { node: '${engines.node}' },`,
  ]);
});
