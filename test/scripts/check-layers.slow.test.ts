import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
/** Checks several folders in one process, because loading the checker takes most of the time. Prints the result of each as JSON. */
const PROGRAM = `
const { pathToFileURL } = require('node:url');
const [script, ...folders] = process.argv.slice(1);
(async () => {
  const results = [];
  for (const folder of folders) {
    const [out, err] = [[], []];
    Object.assign(console, { log: (line) => out.push(line), error: (line) => err.push(line) });
    process.argv[2] = folder;
    await import(pathToFileURL(script).href + '?' + results.length);
    results.push({ out: out.join('\\n'), err: err.join('\\n'), status: process.exitCode });
  }
  process.stdout.write(JSON.stringify(results));
  process.exitCode = 0;
})();
`;

type Files = Readonly<Record<string, string>>;
const folder = mkdtempSync(join(tmpdir(), 'layers-'));
let results: readonly { readonly out: string; readonly err: string; readonly status: number }[];

beforeAll(() => {
  const folders = Object.entries(PROJECTS).map(([name, files]) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name, path)), { recursive: true });
      writeFileSync(join(folder, name, path), text);
    }
    symlinkSync(join(ROOT, 'node_modules'), join(folder, name, 'node_modules'));
    return join(folder, name);
  });
  const args = ['-e', PROGRAM, join(ROOT, 'scripts/check-layers.mjs'), ...folders];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  results = JSON.parse(stdout) as typeof results;
});
afterAll(() => rmSync(folder, { recursive: true }));

function check(project: keyof typeof PROJECTS) {
  const result = results[Object.keys(PROJECTS).indexOf(project)];
  const reported = result?.err.split('\n').filter((text) => /^(arrow|package|circle)/.test(text)) ?? [];
  return { counts: result?.out.split(' (')[0], reported, status: result?.status };
}

const leaf = 'export type A = 1;\nexport const a = 1;\n';
const LEAVES = {
  'policy/contracts/a.ts': leaf,
  'policy/rules/a.ts': leaf,
  'signing/a.ts': leaf,
  'storage/a.ts': leaf,
  'source-tools/sql/rules/a.ts': leaf,
  'source-tools/sql/staging/a.ts': leaf,
  'activities/a.ts': leaf,
  'workflows/a.ts': leaf,
  'client/a.ts': leaf,
  'gateway/a.ts': leaf,
  'workers/a.ts': leaf,
  'dev/a.ts': leaf,
  'cli/servers/dev.ts': leaf,
  'chaos/a.ts': leaf,
  'examples/a.ts': leaf,
  'bench/a.ts': leaf,
};

const UPWARD: readonly (readonly [string, string, string])[] = [
  ['policy/contracts/b.ts', '../decide/b', 'policy/decide/b.ts'],
  ['policy/decide/b.ts', '../rules/a', 'policy/rules/a.ts'],
  ['policy/rules/b.ts', '../../signing/a', 'signing/a.ts'],
  ['signing/b.ts', '../storage/a', 'storage/a.ts'],
  ['storage/b.ts', '../activities/a', 'activities/a.ts'],
  ['source-tools/b.ts', '../activities/a', 'activities/a.ts'],
  ['source-tools/sql/facts/b.ts', '../rules/a', 'source-tools/sql/rules/a.ts'],
  ['source-tools/sql/rules/b.ts', '../staging/a', 'source-tools/sql/staging/a.ts'],
  ['activities/b.ts', '../workflows/a', 'workflows/a.ts'],
  ['workflows/b.ts', '../storage/a', 'storage/a.ts'],
  ['client/b.ts', '../workflows/a', 'workflows/a.ts'],
  ['client/c.ts', '../policy/rules/a', 'policy/rules/a.ts'],
  ['gateway/b.ts', '../activities/a', 'activities/a.ts'],
  ['workers/b.ts', '../dev/a', 'dev/a.ts'],
  ['workers/c.ts', '../examples/a', 'examples/a.ts'],
  ['compat/b.ts', '../storage/a', 'storage/a.ts'],
  ['dev/b.ts', '../chaos/a', 'chaos/a.ts'],
  ['examples/b.ts', '../bench/a', 'bench/a.ts'],
  ['bench/b.ts', '../chaos/a', 'chaos/a.ts'],
  ['chaos/b.ts', '../examples/a', 'examples/a.ts'],
  ['cli/b.ts', '../dev/a', 'dev/a.ts'],
  ['cli/d.ts', './servers/dev', 'cli/servers/dev.ts'],
  ['cli/c.ts', '../gateway/a', 'gateway/a.ts'],
];
const upward = UPWARD.map(([file, path], i): [string, string] => [
  file,
  i % 2 === 0 ? `export { a } from '${path}';\n` : `import type { A } from '${path}';\nexport type B = A;\n`,
]);
const PROJECTS = {
  downward: {
    ...LEAVES,
    'policy/decide/b.ts':
      "import { z } from 'zod';\nexport { a } from '../contracts/a';\nexport const s = z.string();\n",
    'activities/b.ts': "import 'node:crypto';\nexport { a } from '../storage/a';\n",
    'cli/servers/dev.ts': "export { a } from '../../dev/a';\n",
    'cli/b.ts': "export const load = () => import('./servers/dev.js');\n",
  },
  upward: { ...LEAVES, ...Object.fromEntries(upward) },
  packages: {
    'policy/contracts/b.ts': "import 'pg';\n",
    'policy/rules/b.ts': "import 'node:fs';\n",
    'workflows/b.ts': "import 'node:crypto';\nimport '@temporalio/worker';\n",
    'client/b.ts': "import type { Workflow } from '@temporalio/workflow';\nexport type W = Workflow;\n",
    'compat/b.ts': "import '@temporalio/common';\n",
    'source-tools/sql/facts/b.ts': "import 'pg';\nimport 'node:net';\n",
  },
  circle: {
    'storage/b.ts': "import type { C } from './c';\nexport type B = C;\nexport const b = 1;\n",
    'storage/c.ts': "import { b } from './d';\nexport type C = typeof b;\n",
    'storage/d.ts': "export { b } from './b';\n",
  },
  unresolved: { 'storage/b.ts': "export { a } from './missing';\n" },
} satisfies Readonly<Record<string, Files>>;

it('accepts downward imports, and development code that one command imports, which is loaded lazily', () => {
  const result = check('downward');
  expect(result).toEqual({ counts: '0 circles, 0 upward arrows, 0 forbidden packages', reported: [], status: 0 });
});

it('reports each upward import, including type imports', () => {
  const { counts, reported, status } = check('upward');
  expect(reported.map((text) => text.replace(/^arrow from .*: (?=\S+ → )/, '')).toSorted()).toEqual(
    UPWARD.map(([from, , to]) => `${from} → ${to}`).toSorted(),
  );
  expect({ counts, status }).toEqual({
    counts: `0 circles, ${UPWARD.length} upward arrows, 0 forbidden packages`,
    status: 1,
  });
});

it('reports a package or a Node module that a folder may not import', () => {
  const { counts, reported } = check('packages');
  expect(counts).toBe('0 circles, 0 upward arrows, 8 forbidden packages');
  expect(reported).toHaveLength(8);
});

it('reports an import cycle once, even if one of its imports is type-only', () => {
  const { counts, status } = check('circle');
  expect({ counts, status }).toEqual({ counts: '1 circles, 0 upward arrows, 0 forbidden packages', status: 1 });
});

it('reports an import that cannot be resolved', () => {
  const { counts, status } = check('unresolved');
  expect({ counts, status }).toEqual({ counts: '0 circles, 1 upward arrows, 0 forbidden packages', status: 1 });
});
