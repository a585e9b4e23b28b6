import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { escapeJson, escapeLine, escapeLines } from '../../../policy/text/escape';
import { createPrinter, line, styled, wantsColor } from '../../../cli/printer';
import { anyText } from '../../support/any-text';

const anything = anyText(60);
const tricks = fc.constantFrom(
  '\u001b[2J',
  '\u001b]0;x\u0007',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u200d',
  '\ufeff',
  '\u00ad',
  '\u009b31m',
  '\u007f',
  '\r',
  '\b',
  '\u2028',
  '\u{e0041}',
  '\ufe0f',
  '\u3164',
  '\ud800',
  '\u00a0',
  '⟦U+202E⟧',
  '\u115f',
  '\u061c',
);
const hostile = fc.array(fc.oneof(anything, tricks), { maxLength: 8 }).map((parts) => parts.join(''));
// Written apart from the code under test: ranges instead of properties.
const FORBIDDEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/u;

describe('escaping', () => {
  it('lets no control, bidi or zero-width character through, whatever the text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = [escapeLine(text), ...escapeLines(text)];
        return !shown.some((one) => FORBIDDEN.test(one));
      }),
      { numRuns: 3000 },
    );
  });

  it('shows two different texts differently, so that no escape can be forged', () => {
    expect(escapeLine('\u202e')).toBe('⟦U+202E⟧');
    expect(escapeLine('⟦U+202E⟧')).toBe('⟦U+27E6⟧U+202E⟧');
    fc.assert(
      fc.property(hostile, hostile, (a, b) => {
        fc.pre(a !== b);
        return escapeLine(a) !== escapeLine(b);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['private use', '\ue000'],
    ['unassigned', '\u0378'],
    ['a lone surrogate', '\udc00'],
    ['a noncharacter', '\uffff'],
    ['no-break space', '\u00a0'],
    ['braille blank', '\u2800'],
  ])('escapes %s', (_name, char) => {
    expect(escapeLine(`a${char}b`)).toBe(`a⟦U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟧b`);
  });

  it('leaves ordinary text of any script as it is', () => {
    for (const text of ['SELECT 1;', 'Größe', 'Привет', '日本語', 'naïve café', 'שלום', '→ €'])
      expect(escapeLine(text)).toBe(text);
  });

  it('shows a carriage return at the end of a line unless all lines end with it', () => {
    expect(escapeLines('-a\n+a\r\n')).toEqual(['-a', '+a⟦U+000D⟧', '']);
    expect(escapeLines('a\r\nb\tc\r\nd\r')).toEqual(['a', 'b⇥   c', 'd⟦U+000D⟧']);
    expect(escapeLines('a\r')).toEqual(['a⟦U+000D⟧']);
  });

  it('escapes a pile of combining marks past three', () => {
    expect(escapeLine('e\u0301\u0301\u0301\u0301')).toBe('e\u0301\u0301\u0301⟦U+0301⟧');
  });

  it.each(['a\u00a0b', 'e\u0301\u0301\u0301\u0301', '\u202e', '\u0007'])(
    'escapes in JSON what it escapes in a line: %j',
    (text) => {
      expect(escapeLine(text)).not.toBe(text);
      const json = escapeJson(JSON.stringify(text));
      expect(JSON.parse(json)).toBe(text);
      expect(escapeLine(json)).toBe(json);
    },
  );

  it('keeps JSON the same value, and free of what a terminal would obey', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const json = escapeJson(JSON.stringify({ text }));
        return isDeepStrictEqual(JSON.parse(json), { text }) && !FORBIDDEN.test(json);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('printer', () => {
  function printed(color: boolean, tty: boolean, work: (printer: ReturnType<typeof createPrinter>) => void): string {
    let out = '';
    work(createPrinter({ write: (text) => (out += text), isTTY: tty, columns: 40 }, color));
    return out;
  }

  it('escapes whatever a command interpolates, styled or not, in lines, blocks and cells', () => {
    fc.assert(
      fc.property(hostile, fc.boolean(), (text, tty) => {
        const out = printed(false, tty, (printer) => {
          printer.line(line`a ${text} b ${styled('red', text)}`);
          printer.block(text, '> ');
          printer.json({ text });
        });
        return !FORBIDDEN.test(out.replaceAll('\n', ''));
      }),
      { numRuns: 1000 },
    );
  });

  it('writes no other escape sequence than its own colours', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const out = printed(true, true, (printer) => printer.line(styled('red', styled('bold', text))));
        // oxlint-disable-next-line no-control-regex
        expect(out.replaceAll(/\u001b\[(?:0|1;31|31;1|31|1)m/g, '').replaceAll('\n', '')).not.toMatch(FORBIDDEN);
      }),
    );
  });

  it('puts the gutter before every line of foreign text, and wraps long lines itself, so that none looks like our own output', () => {
    const forged = `x${' '.repeat(60)}Violations (0)\nViolations (0)`;
    const out = printed(false, true, (printer) => printer.block(forged, '1 │ '));
    for (const shown of out.trimEnd().split('\n')) expect(shown).toMatch(/^(1 │ | {2}⋮ )/);
  });

  it('keeps a tab inside a cell from making a column', () => {
    expect(printed(false, false, (printer) => printer.tabbed(['a\tb', 'c']))).toBe('a⟦U+0009⟧b\tc\n');
  });

  it.each([
    ['a pipe', { isTTY: false }, {}, true, false],
    ['a terminal', { isTTY: true }, {}, true, true],
    ['NO_COLOR', { isTTY: true }, { NO_COLOR: '1' }, true, false],
    ['TERM=dumb', { isTTY: true }, { TERM: 'dumb' }, true, false],
    ['--no-color', { isTTY: true }, {}, false, false],
  ])('colours for %s', (_name, stream, env, flag, expected) => {
    expect(wantsColor({ write: () => true, ...stream }, env, flag)).toBe(expected);
  });
});
