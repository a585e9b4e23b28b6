import fc from 'fast-check';
import { changeLines, sideBySide } from '../../../../gateway/inbox/page/model/change-lines';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('the lines of a change', () => {
  it('contain every character of a text, whatever the tool', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 300 }),
        fc.constantFrom('SQLDryRun', 'GitPatch', 'Other'),
        (text, tool) => {
          fc.pre(!/^\s*[[{]/.test(text) || text.trimEnd().includes('\n'));
          const { lines } = changeLines(tool, bytes(text));
          const joined = lines.map((line) => line.text).join('\n');
          expect(text.endsWith('\n') && text.length > 1 ? `${joined}\n` : joined).toBe(text);
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each(['{rm -rf home}', '[prod] drop all', '{"a": 1} {"b": 2}', '[1 2]'])(
    'contain every character of %s, which is not JSON although it begins like it',
    (text) => {
      expect(changeLines('PlainText', bytes(text))).toMatchObject({ lines: [{ text }], note: null });
    },
  );

  it('contain a carriage return at the end of a line, unless every line ends with it, which a note says', () => {
    const shown = (text: string): unknown => {
      const { lines, note } = changeLines('GitPatch', bytes(text));
      return [lines.map((line) => line.text), note];
    };
    expect(shown('@@ -1 +1 @@\n-a\n+a\r\n')).toEqual([['@@ -1 +1 @@', '-a', '+a\r'], null]);
    expect(shown('a\r\nb\r\n')).toEqual([['a', 'b'], 'Every line ends with CR LF.']);
  });

  it('show bytes that are not UTF-8 in hexadecimal, without a replacement character', () => {
    const { language, lines } = changeLines('SQLDryRun', Uint8Array.of(0x41, 0xff, 0x42));
    expect(language).toBe('bytes');
    expect(lines[0]?.text).toContain('41 ff 42');
  });

  it('number the lines of a patch by its hunk headers, and do not read a removed line "-- a" as a file header', () => {
    const patch = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@\n--- a\n+++ b\n same\n';
    expect(
      changeLines('GitPatch', bytes(patch)).lines.map(({ kind, oldNumber, newNumber }) => [kind, oldNumber, newNumber]),
    ).toEqual([
      ['file', null, null],
      ['file', null, null],
      ['file', null, null],
      ['hunk', null, null],
      ['removed', 3, null],
      ['added', null, 3],
      ['context', 4, 4],
    ]);
  });

  it('keep the places of one line of JSON, which is shown with one member a line', () => {
    const { lines, note } = changeLines('HTTPPatch', bytes('{"method":"PATCH","url":"x"}'));
    expect(note).toContain('One line of JSON');
    expect(lines.map(({ text, startColumn }) => [text.trim(), startColumn])).toEqual([
      ['{', 1],
      ['"method": "PATCH",', 2],
      ['"url": "x"', 19],
      ['}', 28],
    ]);
  });

  it('pair removed with added lines side by side, and show context on both sides', () => {
    const patch = '@@ -1,3 +1,3 @@\n a\n-b\n-c\n+d\n e\n';
    const { lines } = changeLines('GitPatch', bytes(patch));
    expect(sideBySide(lines)).toEqual([
      { left: null, right: null, whole: 0 },
      { left: 1, right: 1, whole: null },
      { left: 2, right: 4, whole: null },
      { left: 3, right: null, whole: null },
      { left: 5, right: 5, whole: null },
    ]);
  });
});
