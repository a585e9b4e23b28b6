import { extractGitPatchFacts } from '../../../../source-tools/git/facts/extract-git-facts';

const NO_LINE_FEED = '\\ No newline at end of file';

function refusalOf(range: string, lines: readonly string[]): string | null {
  const patch = ['diff --git a/a.txt b/a.txt', '--- a/a.txt', '+++ b/a.txt', `@@ ${range} @@`, ...lines, ''].join('\n');
  const facts = extractGitPatchFacts(Buffer.from(patch));
  return facts.ok ? null : facts.code;
}

it.each([
  ['an added line before a context line', '-1,2 +1,3', ['+x', NO_LINE_FEED, ' one', ' two']],
  ['an added line before another one', '-1,2 +1,4', ['+x', NO_LINE_FEED, '+y', ' one', ' two']],
  ['a context line before an added line', '-1 +1,2', [' one', NO_LINE_FEED, '+x']],
  ['an added line before a removed and a context line', '-1,2 +1,2', ['+x', NO_LINE_FEED, '-one', ' two']],
  ['a line before the first one', '-1 +1', [NO_LINE_FEED, '-one', '+two']],
])('refuses a line without a line feed that git joins with the next one: %s', (_, range, lines) => {
  expect(refusalOf(range, lines)).toBe('joined_lines');
});

it.each([
  ['of the new side', '-1 +1', ['-one', '+two', NO_LINE_FEED]],
  ['of the old side', '-1 +1', ['-one', NO_LINE_FEED, '+two']],
  ['of both sides', '-1 +1', ['-one', NO_LINE_FEED, '+two', NO_LINE_FEED]],
  ['of the old side, after the new line', '-1 +1', ['+two', '-one', NO_LINE_FEED]],
  ['that does not change', '-1,2 +1,2', ['-one', '+1', ' two', NO_LINE_FEED]],
  ['in another language', '-1 +1', ['-one', '+two', '\\ Kein Zeilenumbruch am Dateiende']],
])('reads a missing line feed in the last line %s', (_, range, lines) => {
  expect(refusalOf(range, lines)).toBeNull();
});
