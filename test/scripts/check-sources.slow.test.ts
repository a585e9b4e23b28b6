import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { nativeImport } from '../support/native-import';
import { ROOT } from '../support/root';

interface Script {
  readonly problemsIn: (root: string) => Promise<readonly string[]>;
}

let folders: string;
beforeAll(() => void (folders = mkdtempSync(join(tmpdir(), 'sources-'))));
afterAll(() => rmSync(folders, { recursive: true }));

/** A repository of these files. */
function repositoryOf(files: Readonly<Record<string, string>>): string {
  // Of its own, because the list of defects is imported once for each path.
  const folder = mkdtempSync(join(folders, 'sources-'));
  execFileSync('git', ['init', '--quiet', '--template='], { cwd: folder });
  const all = {
    'package.json': '{"files":["docs/*.md"]}',
    'docs/operate.md': '',
    'workers/process-env.ts': 'COUNTERSIGN_KEY_FILE',
    'workers/start.ts': "env['COUNTERSIGN_KEY_FILE']",
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** The problems that the script finds in a repository of these files, without their explanations. */
async function problemsOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { problemsIn } = await nativeImport<Script>('scripts/check-sources.mjs');
  return (await problemsIn(repositoryOf(files))).map((problem) => problem.split('\n')[0] ?? '');
}

const run = (root: string) =>
  spawnSync(process.execPath, [join(ROOT, 'scripts/check-sources.mjs'), root], { encoding: 'utf8' });

test('the sources have no type DecisionContext, no field changeReason and no text with the prefix WARN: or BLOCK: [G2, G13, G22, T33]', () => {
  const problems = [
    'cli/d.ts: `BLOCK: ',
    "client/e.ts: 'WARN: ",
    'policy/a.ts: DecisionContext',
    'storage/b/c.ts: changeReason',
  ];
  const repository = repositoryOf({
    'policy/a.ts': 'export type DecisionContext = 1;',
    'storage/b/c.ts': 'export const a = { changeReason: 1 };',
    'cli/d.ts': 'export const reason = `BLOCK: ${text}`;',
    'client/e.ts': "export const reason = 'WARN: it drops a table';",
  });
  expect(run(ROOT)).toMatchObject({ stdout: '0 problems in the texts of sources\n', stderr: '', status: 0 });
  const { stdout, stderr, status } = run(repository);
  expect([stdout, status]).toEqual(['4 problems in the texts of sources\n', 1]);
  expect(
    stderr
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith(' '))
      .toSorted(),
  ).toEqual(problems);
});

test.each([
  'node.innerHTML = text',
  '<p dangerouslySetInnerHTML={{ __html: text }} />',
  'document.write(text)',
  'eval(text)',
  'new Function(text)',
])('reports a page that could write text as HTML or evaluate it: %s', async (code) =>
  expect(await problemsOf({ 'gateway/inbox/page/view/a.tsx': code })).toHaveLength(1),
);

test('reports a view of the page that imports code of the server', async () => {
  const imports = ['preact', './b', '../model/c', '../../../../policy/contracts/d', '../../../../storage/e', 'node:fs'];
  const text = imports.map((from) => `import { a } from '${from}';`).join('\n');
  expect(await problemsOf({ 'gateway/inbox/page/view/a.tsx': text })).toEqual([
    'gateway/inbox/page/view/a.tsx: imports ../../../../storage/e',
    'gateway/inbox/page/view/a.tsx: imports node:fs',
  ]);
});

test('reports a variable that is read and not in the table, and one in the table that nothing reads', async () =>
  expect(
    await problemsOf({
      'workers/process-env.ts': 'COUNTERSIGN_KEY_FILE COUNTERSIGN_OLD',
      'cli/a.ts': "'COUNTERSIGN_NEW'",
    }),
  ).toEqual([
    'cli/a.ts: COUNTERSIGN_NEW is not in workers/process-env.ts',
    'workers/process-env.ts: nothing reads COUNTERSIGN_OLD',
  ]));

test('reports a printed page that does not exist, or that the package does not contain; comments may name any', async () =>
  expect(
    (
      await problemsOf({
        'docs/assurance/attacks.md': '',
        'cli/a.ts': "// docs/gone.md\n/* docs/gone.md */\nsay('See docs/operate.md, docs/absent.md.');",
        'workers/b.ts': "say('See docs/assurance/attacks.md');",
      })
    ).toSorted(),
  ).toEqual([
    'cli/a.ts: docs/absent.md does not exist',
    'workers/b.ts: the package does not contain docs/assurance/attacks.md',
  ]));

const DEFECT = { name: 'x', file: 'policy/a.ts', from: 'b', to: 'd', tests: ['test/a.test.ts'] };
const STALE = 'scripts/defects: "x" is stale';
const problemsOfDefects = (...defects: readonly object[]): Promise<readonly string[]> =>
  problemsOf({
    'policy/a.ts': 'a a b',
    'test/a.test.ts': '',
    'scripts/defects/list.mjs': `export const DEFECTS = ${JSON.stringify(defects)};`,
  });

test('reports a name that two seeded defects have', async () => {
  expect(await problemsOfDefects(DEFECT)).toEqual([]);
  expect(await problemsOfDefects(DEFECT, DEFECT)).toEqual([STALE, STALE]);
});

test.each([
  ['has no place in its file', { from: 'c' }],
  ['has two places in its file', { from: 'a' }],
  ['names a file that does not exist', { file: 'policy/gone.ts' }],
  ['changes nothing', { to: 'b' }],
  ['names no test', { tests: [] }],
  ['names a test that does not exist', { tests: ['test/gone.test.ts'] }],
])('reports a seeded defect that %s', async (_what, change) =>
  expect(await problemsOfDefects({ ...DEFECT, ...change })).toEqual([STALE]),
);

test('the list of seeded defects has more than 100', () => {
  const program = `const { DEFECTS } = await import('./scripts/defects/list.mjs'); process.stdout.write(String(DEFECTS.length));`;
  const count = execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: ROOT, encoding: 'utf8' });
  expect(Number(count)).toBeGreaterThan(100);
});
