import { MODIFIED, patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { leastCpuMs } from '../../../support/least-cpu';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const LINES = 10_000;
const lines = (line: (i: number) => string): string[] => Array.from({ length: LINES }, (_, i) => line(i));
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** Lines of lock files that almost state a package. */
const ALMOST: readonly (readonly [string, string])[] = [
  ['pnpm-lock.yaml', `  a@${'1'.repeat(1900)}`],
  ['yarn.lock', `@${'a'.repeat(1900)}`],
  ['bun.lock', `"a": ["@${'a'.repeat(1900)}`],
  ['deno.lock', `    "a@${'1'.repeat(1900)}`],
  ['uv.lock', 'url = "a" '.repeat(190)],
];

/** Far above the time of one pass over the lines, and far below that of one pass for each line. */
const MAX_MS = 10_000;

it.each<[string, string, Uint8Array]>([
  [
    'git_dependency_change',
    'new packages among known ones',
    latin1(
      patchOf('package.json', MODIFIED, [...lines((i) => `+"a${i}": "1.0.0"`), ...lines((i) => ` "b${i}": "1.0.0"`)]),
    ),
  ],
  [
    'git_dependency_change',
    'manifests and lock files in folders of their own',
    latin1(
      Array.from({ length: 3000 }, (_, i) =>
        patchOf(`p${i >> 1}/${i % 2 === 0 ? 'package.json' : 'package-lock.json'}`, MODIFIED, ['+    "a": "1.0.0"']),
      ).join(''),
    ),
  ],
  [
    'git_dependency_change',
    'words in a line of go.mod',
    latin1(patchOf('go.mod', MODIFIED, [`+${'a.'.repeat(450_000)}`])),
  ],
  [
    'git_dependency_change',
    'words in lines of lock files',
    latin1(ALMOST.map(([path, line]) => patchOf(path, MODIFIED, lines(() => `+${line}`).slice(0, 100))).join('')),
  ],
  [
    'git_test_weakening',
    'skipped tests',
    latin1(
      patchOf(
        'tests/test_a.py',
        MODIFIED,
        lines((i) => (i % 2 === 0 ? '+@pytest.mark.skip' : `+def test_${i}():`)),
      ),
    ),
  ],
  [
    'git_unreadable',
    'lines that are not UTF-8',
    latin1(
      patchOf(
        'a.txt',
        MODIFIED,
        lines((i) => `+\u00ff${i}`),
      ),
    ),
  ],
])('%s reads thousands of %s in time', (rule, _, patch) => {
  expect(leastCpuMs(() => runRule(rule, patch), 1)).toBeLessThan(MAX_MS);
});
