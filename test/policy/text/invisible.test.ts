import { bidi, controls, invisible } from '../../../policy/text/characters';
import { escapeLine } from '../../../policy/text/escape';
import { isInvisible } from '../../../policy/text/invisible';
import { plainLine } from '../../../policy/text/plain-line';
import { shown } from '../../../policy/text/shown-name';
import { makeVisible } from '../../../policy/text/visible';
import { RUN_ALL } from '../../support/extent';

const MARKS = ['\u27e6', '\u27e7'];

/** Planes 3 to 13, 15 and 16 hold almost only unassigned and private characters, 2 only ideographs; a sample of them is enough. */
const isSampled = (code: number): boolean => {
  const plane = code >> 16;
  return RUN_ALL || plane < 2 || plane === 14 || code % 61 === 0;
};

/** The characters, each between two letters, that meet the condition. */
function characters(condition: (text: string, character: string) => boolean): string[] {
  const all: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    if (!isSampled(code)) continue;
    const character = String.fromCodePoint(code);
    if (condition(`a${character}b`, character)) all.push(character);
  }
  return all;
}

const reported = characters((text) => bidi(text).length > 0 || invisible(text).length > 0 || controls(text).length > 0);
const marked = characters((text) => makeVisible(text) !== text);

describe('invisible characters', () => {
  it('are more than the rules report', () => {
    expect(reported.length).toBeGreaterThan(4000);
    expect(marked.length).toBeGreaterThan(reported.length);
  });

  it.each([
    ['shown', shown],
    ['makeVisible', makeVisible],
    ['escapeLine', escapeLine],
    ['plainLine', (text: string) => plainLine(text, 100)],
  ])('that a rule reports never pass %s', (_, show) => {
    expect(reported.filter((character) => show(`a${character}b`).includes(character))).toEqual([]);
  });

  it('that makeVisible marks never pass shown or escapeLine, except its own marks', () => {
    expect(marked.filter((character) => shown(character).includes(character))).toEqual(MARKS);
    expect(marked.filter((character) => escapeLine(character) === character)).toEqual(['\u27e7']);
  });

  it('are all that this version of Unicode calls control, format, private, surrogate, separator or ignorable', () => {
    const unicode = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/u;
    expect(
      characters((_, character) => unicode.test(character) && !isInvisible(character.codePointAt(0) ?? 0)),
    ).toEqual([' ']);
  });

  it.each([
    ['a no-break space', 'a\u00a0b', '"a\\u{a0}b"'],
    ['an ideographic space', 'a\u3000b', '"a\\u{3000}b"'],
    ['a narrow no-break space', 'a\u202fb', '"a\\u{202f}b"'],
    ['a tab and a line feed', 'a\t\nb', '"a\\u{9}\\u{a}b"'],
    ['a filler', 'a\u3164b', '"a\\u{3164}b"'],
    ['a Braille blank', 'a\u2800b', '"a\\u{2800}b"'],
    ['a tag', 'a\u{e0041}b', '"a\\u{e0041}b"'],
    ['a variation selector', 'a\ufe0fb', '"a\\u{fe0f}b"'],
    ['a lone surrogate', 'a\ud800b', '"a\\u{d800}b"'],
    ['a private use character', 'a\ue000b', '"a\\u{e000}b"'],
  ])('are escaped in a name: %s', (_, name, expected) => {
    expect(shown(name)).toBe(expected);
  });

  it.each(['orders', 'Größe', '注文', 'שלום', 'a b'])('are not found in the name %s', (name) => {
    expect(shown(name)).toBe(`"${name}"`);
  });

  it('are marked in a line, where blanks and line breaks become one space', () => {
    expect(plainLine(' a\t\n b\u00a0c\u3000\ufeff', 100)).toBe(
      'a b\u27e6U+00A0\u27e7c\u27e6U+3000\u27e7\u27e6U+FEFF\u27e7',
    );
    expect(makeVisible('a\u27e6b\u27e7\tc\n')).toBe('a\u27e6U+27E6\u27e7b\u27e6U+27E7\u27e7\tc\n');
  });
});
