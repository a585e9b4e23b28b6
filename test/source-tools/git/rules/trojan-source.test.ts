import { gitDiffRules } from '../../../../source-tools/git/rules';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const rules = gitDiffRules.map((rule) => rule.definition);

function added(path: string, lines: readonly string[]): string {
  const body = lines.map((line) => `+${line}\n`).join('');
  return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${body}`;
}

const marked = (count: number): string[] => Array.from({ length: count }, () => 'if (\u202eadmin) {');

test('of 1,500 lines with a mark 1,000 are counted, and an odd name of a file after them is still said', () => {
  const result = runRule(rules, 'git_trojan_source', added('a.ts', marked(1500)) + added('\u0430b.ts', ['b']));
  expect(result).toMatchObject({ status: 'BLOCK', details: { evidenceTotal: 1001 } });
  expect(result.evidenceRefs).toHaveLength(50);
  expect(result.reason).toMatch(/; and 998 more$/);
});

test('of exactly 1,000 lines with a mark none is left out', () => {
  expect(runRule(rules, 'git_trojan_source', added('a.ts', marked(1000)))).toMatchObject({
    details: { evidenceTotal: 1000 },
  });
});

test('finds a mark in one line among many plain ones, at its own line and column, with CRLF at every line end', () => {
  const lines = Array.from({ length: 300 }, (_, i) => (i === 250 ? 'x = "\u2066y"\r' : `plain ${i}\r`));
  const result = runRule(rules, 'git_trojan_source', added('a.ts', lines));
  expect(result.evidenceRefs).toEqual([expect.stringMatching(/#L255:C7-L255:C8$/)]);
});
