import { runRule } from '../../../policy/rules/support/run-pack-rule';

function added(path: string, lines: readonly string[]): string {
  const body = lines.map((line) => `+${line}\n`).join('');
  return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${body}`;
}

const marked = (count: number): string[] => Array.from({ length: count }, () => 'if (\u202eadmin) {');

test('counts 1,000 of 1,500 lines with a bidi character, and still reports a suspicious file name after them', () => {
  const result = runRule('git_trojan_source', added('a.ts', marked(1500)) + added('\u0430b.ts', ['b']));
  expect(result).toMatchObject({ status: 'BLOCK', details: { evidenceTotal: 1001 } });
  expect(result.evidenceRefs).toHaveLength(50);
  expect(result.reason).toMatch(/; and 998 more$/);
});

test('counts all of exactly 1,000 lines with a bidi character', () => {
  expect(runRule('git_trojan_source', added('a.ts', marked(1000)))).toMatchObject({
    details: { evidenceTotal: 1000 },
  });
});

test('finds a bidi character in one of many lines, at its line and column, if every line ends in CRLF', () => {
  const lines = Array.from({ length: 300 }, (_, i) => (i === 250 ? 'x = "\u2066y"\r' : `plain ${i}\r`));
  const result = runRule('git_trojan_source', added('a.ts', lines));
  expect(result.evidenceRefs).toEqual([expect.stringMatching(/#L255:C7-L255:C8$/)]);
});

test('finds signs that only look like code in lines and names of files, and none in East Asian comments', () => {
  const lines = ['// 如果（a！）则返回：b', 'if (environment\u01c3=ENV_PROD) {', "const name = '\u01c3Kung';"];
  const result = runRule('git_trojan_source', added('src/auth\u2215login.ts', lines));
  expect(result).toMatchObject({
    status: 'BLOCK',
    details: { places: [{ what: 'file name: U+2215 looks like /' }, { fileLine: 2, what: 'U+01C3 looks like !' }] },
  });
});
