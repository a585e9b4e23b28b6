import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'layers-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function check(files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(ROOT, 'scripts/check-layers.mjs'), folder], {
    encoding: 'utf8',
  });
  const reported = stderr.split('\n').filter((text) => /^(arrow|package|circle)/.test(text));
  return { counts: stdout.split(' (')[0], reported, status };
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

it('accepts downward imports, and development code that one command imports, which is loaded lazily', () => {
  const result = check({
    ...LEAVES,
    'policy/decide/b.ts':
      "import { z } from 'zod';\nexport { a } from '../contracts/a';\nexport const s = z.string();\n",
    'activities/b.ts': "import 'node:crypto';\nexport { a } from '../storage/a';\n",
    'cli/servers/dev.ts': "export { a } from '../../dev/a';\n",
    'cli/b.ts': "export const load = () => import('./servers/dev.js');\n",
  });
  expect(result).toEqual({ counts: '0 circles, 0 upward arrows, 0 forbidden packages', reported: [], status: 0 });
});

it('reports each upward import, including type imports', () => {
  const wrong: readonly (readonly [string, string, string])[] = [
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
  const files = wrong.map(([file, path], i): [string, string] => [
    file,
    i % 2 === 0 ? `export { a } from '${path}';\n` : `import type { A } from '${path}';\nexport type B = A;\n`,
  ]);
  const { counts, reported, status } = check({ ...LEAVES, ...Object.fromEntries(files) });
  expect(reported.map((text) => text.replace(/^arrow from .*: (?=\S+ → )/, '')).toSorted()).toEqual(
    wrong.map(([from, , to]) => `${from} → ${to}`).toSorted(),
  );
  expect({ counts, status }).toEqual({
    counts: `0 circles, ${wrong.length} upward arrows, 0 forbidden packages`,
    status: 1,
  });
});

it('reports a package or a Node module that a folder may not import', () => {
  const { counts, reported } = check({
    'policy/contracts/b.ts': "import 'pg';\n",
    'policy/rules/b.ts': "import 'node:fs';\n",
    'workflows/b.ts': "import 'node:crypto';\nimport '@temporalio/worker';\n",
    'client/b.ts': "import type { Workflow } from '@temporalio/workflow';\nexport type W = Workflow;\n",
    'compat/b.ts': "import '@temporalio/common';\n",
    'source-tools/sql/facts/b.ts': "import 'pg';\nimport 'node:net';\n",
  });
  expect(counts).toBe('0 circles, 0 upward arrows, 8 forbidden packages');
  expect(reported).toHaveLength(8);
});

it('reports an import cycle once, even if one of its imports is type-only', () => {
  const { counts, status } = check({
    'storage/b.ts': "import type { C } from './c';\nexport type B = C;\nexport const b = 1;\n",
    'storage/c.ts': "import { b } from './d';\nexport type C = typeof b;\n",
    'storage/d.ts': "export { b } from './b';\n",
  });
  expect({ counts, status }).toEqual({ counts: '1 circles, 0 upward arrows, 0 forbidden packages', status: 1 });
});

it('reports an import that cannot be resolved', () => {
  const { counts, status } = check({ 'storage/b.ts': "export { a } from './missing';\n" });
  expect({ counts, status }).toEqual({ counts: '0 circles, 1 upward arrows, 0 forbidden packages', status: 1 });
});
