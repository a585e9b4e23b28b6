import { z } from 'zod';
import { counted } from '../../../policy/text/change-title';
import { coveringGlob, pathName, type PathName } from '../../../policy/text/glob';
import { linePattern, describeLine, wordsOf } from '../../../policy/text/line-patterns';
import { memoizeByObject } from '../../../policy/text/memoize';
import type { Hit } from '../../../policy/rules/rule-maker';
import { addedHits, atFile, atLine, gitRule, globs, MODIFIED, patchOf } from './define-git-rule';
import type { PatchFile, PatchLine } from '../facts/git-facts';
import type { FileView } from './patch-view';
import { wordList } from '../../../policy/text/word-list';

const TESTS = wordList(`
  **/test/** **/tests/** **/spec/** **/__tests__/** **/*.test.* **/*.spec.* **/*_test.* **/test_*.py **/*Test.java
  **/*Tests.cs **/*Test.kt **/*_spec.rb
`);
const CONFIGS = wordList(`
  **/jest.config.* **/vitest.config.* **/.nycrc* **/.c8rc* **/package.json **/pyproject.toml **/setup.cfg
  **/.coveragerc **/codecov.y*ml **/.codecov.y*ml **/sonar-project.properties **/stryker.conf* **/pom.xml
  **/build.gradle* .github/workflows/** .gitlab-ci.yml
`);

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
    'runs only selected tests',
    ['.only', 'fit', 'fdescribe', 'fcontext', ':focus', 'focus:'],
    String.raw`\b(?:it|test|describe|context)\.only\b|\bf(?:it|describe|context)(?:\s*\(|\s+["'])|,\s*:focus\b|\bfocus:\s*true\b`,
  ),
  linePattern(
    'expects a test to fail',
    ['xfail', '.fails', 'failing', 'expectedfailure'],
    String.raw`\bpytest\.(?:mark\.)?xfail|\bexpectedfailure\b|\b(?:it|test)\.(?:fails|failing)\b`,
  ),
  linePattern(
    'disables a test',
    ['@disabled', '@ignore', '#[ignore', '[ignore', '[skip', 'enabled', 'disabled_', 'assumetrue', 'assumefalse'],
    String.raw`@(?:disabled|ignore)\b|#\[ignore|\[(?:ignore|skip)(?:\(|\])|@test\([^)]*\benabled\s*=\s*false|\btest(?:_[fp])?\(\s*\w+\s*,\s*disabled_|\bassume(?:true\(\s*false|false\(\s*true)\b`,
  ),
  linePattern(
    'asserts a condition that is always true',
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
    'ignores a failure',
    ['continue-on-error', 'allow_failure', '|| true', '|| exit 0', '|| :'],
    String.raw`\bcontinue-on-error\s*:\s*true|\ballow_failure\s*:\s*true|\|\|\s*(?:true|exit 0|:)(?:\s|["']|$)`,
  ),
  linePattern(
    'rewrites snapshots',
    ['--updatesnapshot', '--update-snapshot', '--ci=false'],
    String.raw`--update-?snapshots?\b|--ci=false`,
  ),
];

const SKIPPED_WORDS = wordsOf(SKIPPED);
const LENIENT_WORDS = wordsOf(LENIENT);

const ASSERTS = wordList('expect( assert should. .should( require.equal require.noerror t.error t.fatal verify(');

export const testWeakening = gitRule({
  name: 'git_test_weakening',
  logicRevision: 7,
  defaultLevel: 'confirm',
  why: 'Deleting, skipping or weakening a test is the easiest way to make a build pass.',
  config: z.strictObject({
    tests: globs(200).default(TESTS).describe('Globs of test files.'),
    configs: globs(200).default(CONFIGS).describe('Globs of files that configure test runs and coverage thresholds.'),
    maxSnapshots: z.int().min(0).default(3).describe('Maximum number of changed snapshot files.'),
    maxLostAsserts: z.int().min(0).default(0).describe('Maximum number of assertions that a test file may lose.'),
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
    const testFiles = files.filter((view) => coveringGlob(tests, nameBefore(view)) !== undefined);
    const moved = movedAsserts(files.filter((view) => coveringGlob(tests, view.name) !== undefined));
    return [
      ...testFiles.flatMap((view) => lostTests(view, files, moved, tests)),
      ...lostAsserts(testFiles, moved, maxLostAsserts),
      ...testFiles.flatMap((view) =>
        addedHits(
          view,
          SKIPPED_WORDS,
          (text) => describeLine(SKIPPED, text),
          (line) => !isOfNewTest(view, line),
        ),
      ),
      ...files.flatMap((view) =>
        coveringGlob(configs, view.name) === undefined
          ? []
          : [...addedHits(view, LENIENT_WORDS, (text) => describeLine(LENIENT, text)), ...loweredThresholds(view)],
      ),
      ...(snapshots.length > maxSnapshots
        ? snapshots.map(({ file }) => atFile(file, 'the snapshot is one of many that change'))
        : []),
    ];
  },
});

function nameBefore({ file, name }: FileView): PathName {
  return file.oldPath === null || file.oldPath === file.path ? name : pathName(file.oldPath);
}

/** A hit if a test file is deleted, but neither its assertions are moved nor the tested code is deleted; or if it is moved away. */
function lostTests(
  view: FileView,
  files: readonly FileView[],
  moved: ReadonlyMap<string, number>,
  tests: readonly string[],
): Hit[] {
  const { file, name } = view;
  if (file.change === 'rename' && coveringGlob(tests, name) === undefined)
    return [atFile(file, 'the test file is moved outside the test folders')];
  if (file.change !== 'delete') return [];
  const asserts = assertsIn(view, '-');
  const isData =
    (file.removed > 0 || file.binary !== null) &&
    asserts.length === 0 &&
    !view.lines('-').some(({ text }) => DECLARED.test(text));
  const isMoved = asserts.length > 0 && [...countsOf(asserts)].every(([text, n]) => n <= (moved.get(text) ?? 0));
  return isData || isMoved || losesItsSubject(view, files) ? [] : [atFile(file, 'the test file is deleted')];
}

/** True if the patch also deletes the file that a test file is named after: `a.test.ts` and `a.ts`, `test_a.py` and `a.py`. */
function losesItsSubject({ name }: FileView, files: readonly FileView[]): boolean {
  const subject = name.base.replace(/(?:[._-](?:test|tests|spec)|^test_)(?=[.]|[^.]*[.])/, '');
  return (
    subject !== name.base && files.some(({ file, name: { base } }) => file.change === 'delete' && base === subject)
  );
}

/** The declaration of a test, or of a function or class that may contain tests. */
const DECLARED =
  /^\s*(?:(?:async\s+)?def\s+\w|class\s+\w|func\s+[\w(]|(?:pub\s+)?(?:async\s+)?fn\s+\w|(?:it|test|describe|context|specify|suite)\b[\w.]*\s*[(`'"]|(?:public\s+)?void\s+\w|TEST\w*\()/;

/**
 * True if a line that skips belongs to a test that the patch adds: its declaration, which follows a decorator and precedes
 * other lines, is an added line, and the file loses no declaration that could be the same test under another name.
 */
function isOfNewTest(view: FileView, line: PatchLine): boolean {
  if (DECLARED.test(line.text)) return false;
  const { losesOne, before, after } = declarationsIn(view);
  if (losesOne) return false;
  const isDecorator = /^\s*[@#[]/.test(line.text);
  return (isDecorator ? after : before).get(line)?.kind === '+';
}

interface Declarations {
  /** Whether the patch removes a declaration and does not add it again. */
  readonly losesOne: boolean;
  /** The nearest declaration above and below each line of the new side, in the same hunk. */
  readonly before: ReadonlyMap<PatchLine, PatchLine>;
  readonly after: ReadonlyMap<PatchLine, PatchLine>;
}

const declarationsIn = memoizeByObject((view: FileView): Declarations => {
  const added = new Set(view.lines('+').map(({ text }) => text.trim()));
  const losesOne = view.lines('-').some(({ text }) => DECLARED.test(text) && !added.has(text.trim()));
  const sides = view.file.hunks.map(({ lines }) => lines.filter(({ kind }) => kind !== '-'));
  return {
    losesOne,
    before: new Map(sides.flatMap(withDeclaration)),
    after: new Map(sides.flatMap((lines) => withDeclaration(lines.toReversed()))),
  };
});

/** Each line with the last declaration before it, if there is one. */
function withDeclaration(lines: readonly PatchLine[]): [PatchLine, PatchLine][] {
  let last: PatchLine | null = null;
  return lines.flatMap((line): [PatchLine, PatchLine][] => {
    const found = last;
    if (DECLARED.test(line.text)) last = line;
    return found === null ? [] : [[line, found]];
  });
}

function isSnapshot(file: PatchFile): boolean {
  return file.path.endsWith('.snap') || file.path.includes('__snapshots__/') || file.path.endsWith('.snapshot');
}

function assertsIn(view: FileView, kind: '+' | '-'): readonly string[] {
  if (isSnapshot(view.file) || !view.contains(kind, ASSERTS)) return [];
  return view.lines(kind).flatMap(({ text }) => {
    const lower = text.toLowerCase();
    return ASSERTS.some((word) => lower.includes(word)) ? [text.trim()] : [];
  });
}

/** How often the patch adds each assertion to test files. A removed assertion that occurs here is moved, not lost. */
function movedAsserts(files: readonly FileView[]): ReadonlyMap<string, number> {
  return countsOf(files.flatMap((view) => assertsIn(view, '+')));
}

function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/** Hits for test files that lose assertions, if the patch as a whole loses more than `most`: they may move between files. */
function lostAsserts(files: readonly FileView[], moved: ReadonlyMap<string, number>, most: number): Hit[] {
  const left = new Map(moved);
  const losses = files
    .filter(({ file }) => file.change !== 'delete')
    .map((view) => {
      const gone = assertsIn(view, '-').filter((text) => {
        const count = left.get(text) ?? 0;
        left.set(text, count - 1);
        return count <= 0;
      });
      return { file: view.file, gone: gone.length };
    });
  const added = [...left.values()].reduce((sum, count) => sum + Math.max(0, count), 0);
  const lost = losses.reduce((sum, { gone }) => sum + gone, 0) - added;
  if (lost <= most) return [];
  return losses.flatMap(({ file, gone }) => (gone === 0 ? [] : [atFile(file, `loses ${counted(gone, 'assertion')}`)]));
}

const THRESHOLD = wordList(
  'branches functions lines statements fail_under threshold cov-fail-under target minimum coverage break low high',
);

/** Names that also occur inside other words, such as `slow: 5` or `linebreak: 2`. */
const WITHIN_WORDS = new Set(['low', 'high', 'break', 'lines', 'target']);

/** Hits for thresholds that decrease or are removed. */
function loweredThresholds(view: FileView): Hit[] {
  const { file } = view;
  if (!view.contains('-', THRESHOLD)) return [];
  // The lowest one: another line with the name can be a comment.
  const added = new Map<string, number>();
  for (const [name, value] of view.lines('+').flatMap((line) => thresholdsIn(line.text)))
    added.set(name, Math.min(value, added.get(name) ?? value));
  return view.lines('-').flatMap((line) =>
    thresholdsIn(line.text).flatMap(([name, before]) => {
      const after = added.get(name);
      if (after === undefined) return before > 0 ? [atLine(file, line, `the threshold "${name}" is removed`)] : [];
      return after < before ? [atLine(file, line, `the threshold "${name}" decreases from ${before} to ${after}`)] : [];
    }),
  );
}

/** Thresholds with a value up to 100, such as `lines: 80`, `fail_under = 90` or `--cov-fail-under=85`. */
function thresholdsIn(text: string): [string, number][] {
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
