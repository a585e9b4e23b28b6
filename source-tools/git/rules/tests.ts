import { z } from 'zod';
import { coveringGlob, pathName } from '../../../policy/text/glob';
import { linePattern, describeLine, wordsOf } from '../../../policy/text/line-patterns';
import type { Hit } from '../../../policy/rules/rule-maker';
import { addedHits, atFile, atLine, gitRule, MODIFIED, patchOf } from './define-git-rule';
import type { PatchFile } from '../facts/git-facts';
import type { FileView } from './patch-view';

const TESTS = [
  '**/test/**',
  '**/tests/**',
  '**/spec/**',
  '**/__tests__/**',
  '**/*.test.*',
  '**/*.spec.*',
  '**/*_test.*',
  '**/test_*.py',
  '**/*Test.java',
  '**/*Tests.cs',
  '**/*Test.kt',
  '**/*_spec.rb',
];
const CONFIGS = [
  '**/jest.config.*',
  '**/vitest.config.*',
  '**/.nycrc*',
  '**/.c8rc*',
  '**/package.json',
  '**/pyproject.toml',
  '**/setup.cfg',
  '**/.coveragerc',
  '**/codecov.y*ml',
  '**/.codecov.y*ml',
  '**/sonar-project.properties',
  '**/stryker.conf*',
  '**/pom.xml',
  '**/build.gradle*',
  '.github/workflows/**',
  '.gitlab-ci.yml',
];

const SKIPPED = [
  linePattern(
    'skips a test',
    ['skip', 'todo', 'fixme', 'pending'],
    String.raw`\b(?:it|test|describe|context|suite|specify)(?:\.\w+)?\.(?:skip|todo|fixme|skipif)\b|\b(?:t|b|tb)\.skip(?:now|f)?\(|\bpytest\.(?:mark\.)?skip|@(?:unittest\.)?skip|\bunittest\.skip|\bself\.skiptest\(|\bskip\s*[:=]\s*(?:true\b|["'])|\bpending\(|^\s*(?:skip|pending)\s+["']|[,@]\s*:(?:skip|pending)\b|@tag\s+:?skip|\bmarktest(?:skipped|incomplete)\(|\bxctskip|\bgtest_skip\b`,
  ),
  linePattern(
    'skips a test',
    ['xit', 'xdescribe', 'xtest', 'xcontext', 'xspecify'],
    String.raw`\bx(?:it|describe|test|context|specify)(?:\s*[(.]|\s+["'])`,
  ),
  linePattern(
    'runs one test instead of all',
    ['.only', 'fit', 'fdescribe', 'fcontext', ':focus', 'focus:'],
    String.raw`\b(?:it|test|describe|context)\.only\b|\bf(?:it|describe|context)(?:\s*\(|\s+["'])|,\s*:focus\b|\bfocus:\s*true\b`,
  ),
  linePattern(
    'expects a test to fail',
    ['xfail', 'fails(', 'failing', 'expectedfailure'],
    String.raw`\bpytest\.(?:mark\.)?xfail|\bexpectedfailure\b|\b(?:it|test)\.(?:fails|failing)\b`,
  ),
  linePattern(
    'switches a test off',
    ['@disabled', '@ignore', '#[ignore', '[ignore', '[skip', 'enabled', 'disabled_', 'assumetrue', 'assumefalse'],
    String.raw`@(?:disabled|ignore)\b|#\[ignore|\[(?:ignore|skip)(?:\(|\])|@test\([^)]*\benabled\s*=\s*false|\btest(?:_[fp])?\(\s*\w+\s*,\s*disabled_|\bassume(?:true\(\s*false|false\(\s*true)\b`,
  ),
  linePattern(
    'asserts what is always true',
    ['expect(', 'assert'],
    String.raw`\bexpect\(\s*(?:true\s*\)\.to(?:be(?:truthy)?|equal|strictequal)\(\s*(?:true)?\s*\)|false\s*\)\.to(?:be(?:falsy)?|equal|strictequal)\(\s*(?:false)?\s*\)|1\s*\)\.to(?:be|equal|strictequal)\(\s*1\s*\))|\bassert(?:!|_?true|\.ok|\.istrue)?\s*\(?\s*true\s*\)?\s*(?:[;,)#]|$)|\bassert_?equals?\(\s*(?:true\s*,\s*true|1\s*,\s*1)\s*[,)]`,
  ),
];

const LENIENT = [
  linePattern(
    'lets a run without tests pass',
    ['passwithnotests', 'allow-empty'],
    String.raw`--?passwithnotests\b|passwithnotests"?\s*:\s*true`,
  ),
  linePattern(
    'lets a failure pass',
    ['continue-on-error', 'allow_failure', '|| true', '|| exit 0', '|| :'],
    String.raw`\bcontinue-on-error\s*:\s*true|\ballow_failure\s*:\s*true|\|\|\s*(?:true|exit 0|:)(?:\s|["']|$)`,
  ),
  linePattern(
    'rewrites snapshots',
    ['--updatesnapshot', '--ci=false', '--update-snapshots'],
    String.raw`--update-?snapshots?\b|--ci=false`,
  ),
];

const SKIPPED_WORDS = wordsOf(SKIPPED);
const LENIENT_WORDS = wordsOf(LENIENT);

const ASSERTS = [
  'expect(',
  'assert',
  'should.',
  '.should(',
  'require.equal',
  'require.noerror',
  't.error',
  't.fatal',
  'verify(',
];

export const testWeakening = gitRule({
  name: 'git_test_weakening',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'The shortest way to green is a test that is gone, skipped or asks for less.',
  config: z.strictObject({
    tests: z.array(z.string().min(1).max(500)).max(200).default(TESTS).describe('Where tests lie.'),
    configs: z
      .array(z.string().min(1).max(500))
      .max(200)
      .default(CONFIGS)
      .describe('Where thresholds and runs are set.'),
    maxSnapshots: z.int().min(0).default(3).describe('Snapshot files that may change at once.'),
    maxLostAsserts: z.int().min(0).default(0).describe('Assertions that a test file may have fewer.'),
  }),
  examples: {
    bad: patchOf('test/pay.test.ts', MODIFIED, [
      "-it('refuses a negative amount', () => {",
      "+it.skip('refuses a negative amount', () => {",
    ]),
    good: patchOf('src/skip.ts', MODIFIED, ['-list.skip(1)', '+list.skip(2)']),
  },
  find: ({ files }, { tests, configs, maxSnapshots, maxLostAsserts }) => {
    const snapshots = files.filter(({ file }) => isSnapshot(file));
    return [
      ...files.flatMap((view): readonly Hit[] => {
        const { file, name } = view;
        const was = file.oldPath === null || file.oldPath === file.path ? name : pathName(file.oldPath);
        const isTest = coveringGlob(tests, was) !== undefined;
        if (isTest && file.change === 'delete') return [atFile(file, 'a test is deleted')];
        if (isTest && file.change === 'rename' && coveringGlob(tests, name) === undefined)
          return [atFile(file, 'a test is moved to where no tests are')];
        const said = isTest
          ? [...addedHits(view, SKIPPED_WORDS, (text) => describeLine(SKIPPED, text)), ...lostAsserts(view, maxLostAsserts)]
          : [];
        const isConfig = coveringGlob(configs, name) !== undefined;
        return isConfig
          ? [...said, ...addedHits(view, LENIENT_WORDS, (text) => describeLine(LENIENT, text)), ...lowered(view)]
          : said;
      }),
      ...(snapshots.length > maxSnapshots
        ? snapshots.map(({ file }) => atFile(file, 'one of many changed snapshots'))
        : []),
    ];
  },
});

function isSnapshot(file: PatchFile): boolean {
  return file.path.endsWith('.snap') || file.path.includes('__snapshots__/') || file.path.endsWith('.snapshot');
}

function lostAsserts(view: FileView, most: number): Hit[] {
  const { file } = view;
  // None can be lost where none is removed.
  if (isSnapshot(file) || !view.holds('-', ASSERTS)) return [];
  const count = (kind: '+' | '-'): number =>
    view.lines(kind).filter((line) => {
      const lower = line.text.toLowerCase();
      return ASSERTS.some((word) => lower.includes(word));
    }).length;
  const lost = count('-') - count('+');
  return lost > most ? [atFile(file, `has ${lost} fewer assertions`)] : [];
}

const THRESHOLD = [
  'branches',
  'functions',
  'lines',
  'statements',
  'fail_under',
  'threshold',
  'cov-fail-under',
  'target',
  'minimum',
  'coverage',
  'break',
  'low',
  'high',
];

/** `slow: 5`, `linebreak: 2`: parts of other words. */
const WITHIN_WORDS = new Set(['low', 'high', 'break', 'lines', 'target']);

/** A number under the same name that is smaller than it was, or gone. */
function lowered(view: FileView): Hit[] {
  const { file } = view;
  if (!view.holds('-', THRESHOLD)) return [];
  const added = new Map(view.lines('+').flatMap((line) => thresholdIn(line.text)));
  return view.lines('-').flatMap((line) =>
    thresholdIn(line.text).flatMap(([name, before]) => {
      const after = added.get(name);
      if (after === undefined) return before > 0 ? [atLine(file, line, `the threshold "${name}" is removed`)] : [];
      return after < before ? [atLine(file, line, `the threshold "${name}" goes from ${before} to ${after}`)] : [];
    }),
  );
}

/** `lines: 80`, `fail_under = 90`, `--cov-fail-under=85`: each word of the list with a percentage after it. */
function thresholdIn(text: string): [string, number][] {
  const lower = text.toLowerCase();
  if (lower.length > 2000) return [];
  return THRESHOLD.flatMap((name): [string, number][] => {
    const at = lower.indexOf(name);
    if (at === -1 || (WITHIN_WORDS.has(name) && /[a-z]/.test(lower[at - 1] ?? ''))) return [];
    let i = at + name.length;
    while (i < lower.length && '"\': =\t'.includes(lower[i] as string)) i++;
    let end = i;
    while (end < lower.length && '0123456789.'.includes(lower[end] as string)) end++;
    const value = Number(lower.slice(i, end));
    return end > i && i > at + name.length && value <= 100 ? [[name, value]] : [];
  });
}
