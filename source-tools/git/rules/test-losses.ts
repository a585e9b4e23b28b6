import { counted } from '../../../policy/text/counted';
import { coveringGlob, pathName, type PathName } from '../../../policy/text/glob';
import { memoizeByObject } from '../../../policy/text/memoize';
import { wordList } from '../../../policy/text/word-list';
import type { Hit } from '../../../policy/rules/hit';
import { atFile } from './define-git-rule';
import type { PatchFile, PatchLine } from '../facts/git-facts';
import type { FileView } from './patch-view';

const ASSERTS = wordList(
  'expect( expect{ expect_ assert should. .should( require.equal require.noerror t.error t.fatal verify(',
);

/** A line that declares one test which runs: a call, a method or an attribute of a known framework, not behind a condition. */
const TEST = new RegExp(
  String.raw`^\s*(?:` +
    [
      '(?:Deno\\.)?(?:[Ii]t|test|[Ss]pecify|[Ss]cenario)(?:\\.(?:each|for|concurrent|sequential|serial|parallel|prop))*\\s*[(`"\'{]',
      String.raw`it\s+should\s`,
      String.raw`(?:async\s+)?def\s+test`,
      String.raw`func\s+(?:\([^)]*\)\s*)?(?:Test|Fuzz|Example)(?![a-z])\w*\(`,
      String.raw`func\s+test\w*\(\s*\)`,
      String.raw`(?:public\s+)?(?:async\s+)?function\s+test\w*\(`,
      String.raw`#\[(?:(?:\w+::)*\w*test\b|cfg\(test\)|Test\b)`,
      String.raw`\[(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b`,
      String.raw`(?:/?\*+\s*)?@(?:[Tt]est|ParameterizedTest|RepeatedTest|TestFactory|Property)\b`,
      String.raw`(?:TYPED_)?TEST(?:_F|_P|_CASE|_METHOD)?\(|BOOST_\w+\(|SCENARIO\(`,
      String.raw`Scenario(?: Outline)?:|test_that\(|\(deftest\s|add_test\(`,
    ].join('|') +
    ')',
);

/** A comment of any language; `#[` and `#expect` are code. */
const COMMENT = /^\s*(?:\/\/|\/\*|\*\s|#(?!\[|expect\b|require\b)|<!--|--\s)/;

export function isSnapshot(file: PatchFile): boolean {
  return file.path.endsWith('.snap') || file.path.includes('__snapshots__/') || file.path.endsWith('.snapshot');
}

export function assertsIn(view: FileView, kind: '+' | '-'): readonly string[] {
  if (isSnapshot(view.file) || !view.contains(kind, ASSERTS)) return [];
  return view.lines(kind).flatMap(({ text }) => {
    const lower = text.toLowerCase();
    return ASSERTS.some((word) => lower.includes(word)) && !COMMENT.test(text) ? [text.trim()] : [];
  });
}

export function testsIn(view: FileView, kind: '+' | '-'): readonly string[] {
  return view.lines(kind).flatMap(({ text }) => (TEST.test(text) ? [text.trim()] : []));
}

export function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/**
 * Hits for files that lose what `linesIn` returns, if the patch as a whole loses more than `most`: it may move between files,
 * so `added` counts the texts that the patch adds.
 */
export function losses(
  files: readonly FileView[],
  linesIn: typeof assertsIn,
  added: ReadonlyMap<string, number>,
  most: number,
  noun: string,
): Hit[] {
  const left = new Map(added);
  const lossOf = files
    .filter(({ file }) => file.change !== 'delete')
    .map((view) => {
      const gone = linesIn(view, '-').filter((text) => {
        const count = left.get(text) ?? 0;
        left.set(text, count - 1);
        return count <= 0;
      });
      return { file: view.file, gone: gone.length };
    });
  const surplus = [...left.values()].reduce((sum, count) => sum + Math.max(0, count), 0);
  const lost = lossOf.reduce((sum, { gone }) => sum + gone, 0) - surplus;
  if (lost <= most) return [];
  return lossOf.flatMap(({ file, gone }) =>
    gone === 0 ? [] : [atFile(file, `loses ${counted(Math.min(gone, lost), noun)}`)],
  );
}

export function nameBefore({ file, name }: FileView): PathName {
  return file.oldPath === null || file.oldPath === file.path ? name : pathName(file.oldPath);
}

/** A hit if a test file is deleted, but neither its assertions are moved nor the tested code is deleted; or if it is moved away. */
export function lostFiles(
  view: FileView,
  files: readonly FileView[],
  moved: ReadonlyMap<string, number>,
  tests: readonly string[],
): Hit[] {
  const { file, name } = view;
  if (file.change === 'rename') {
    if (coveringGlob(tests, name) === undefined)
      return [atFile(file, 'the test file is moved outside the test folders')];
    return losesItsName(nameBefore(view), name, tests)
      ? [atFile(file, 'the test file gets a name that test runners may not find')]
      : [];
  }
  if (file.change !== 'delete') return [];
  const asserts = assertsIn(view, '-');
  const isData =
    (file.removed > 0 || file.binary !== null) &&
    asserts.length === 0 &&
    !view.lines('-').some(({ text }) => DECLARED.test(text));
  const isMoved = asserts.length > 0 && [...countsOf(asserts)].every(([text, n]) => n <= (moved.get(text) ?? 0));
  return isData || isMoved || losesItsSubject(view, files) ? [] : [atFile(file, 'the test file is deleted')];
}

const nameGlobs = memoizeByObject((tests: readonly string[]) => tests.filter((glob) => !glob.endsWith('/**')));

/** True for `a.test.ts` that becomes `a.ts`, `a.test.ts.off` or `_a.test.ts`, although it stays in a test folder. */
function losesItsName(before: PathName, after: PathName, tests: readonly string[]): boolean {
  const globs = nameGlobs(tests);
  if (coveringGlob(globs, before) === undefined || before.base === after.base) return false;
  return (
    coveringGlob(globs, after) === undefined ||
    after.base.startsWith(before.base) ||
    (/^[._]/.test(after.base) && !/^[._]/.test(before.base))
  );
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
 * other lines, is an added line that the patch does not also remove, and the file loses no declaration that could be the
 * same test under another name.
 */
export function isOfNewTest(view: FileView, line: PatchLine): boolean {
  if (DECLARED.test(line.text)) return false;
  const { losesOne, removed, before, after } = declarationsIn(view);
  if (losesOne) return false;
  const isAbove = /^\s*[@#[]|^\/\//.test(line.text);
  const declaration = (isAbove ? after : before).get(line);
  return declaration?.kind === '+' && !removed.has(declaration.text.trim());
}

interface Declarations {
  /** Whether the patch removes a declaration and does not add it again. */
  readonly losesOne: boolean;
  readonly removed: ReadonlySet<string>;
  /** The nearest declaration above and below each line of the new side, in the same hunk. */
  readonly before: ReadonlyMap<PatchLine, PatchLine>;
  readonly after: ReadonlyMap<PatchLine, PatchLine>;
}

const declarationsIn = memoizeByObject((view: FileView): Declarations => {
  const added = new Set(view.lines('+').map(({ text }) => text.trim()));
  const removed = new Set(view.lines('-').flatMap(({ text }) => (DECLARED.test(text) ? [text.trim()] : [])));
  const sides = view.file.hunks.map(({ lines }) => lines.filter(({ kind }) => kind !== '-'));
  return {
    losesOne: [...removed].some((text) => !added.has(text)),
    removed,
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
