import { codePointName, isAscii, within, type CodePointRanges } from './code-points';
import { lookalikeSigns } from './lookalike-signs';
import { MAX_FOUND, scan, type OddCharacter } from './odd-character';

/**
 * The tables say what the rules report. All of it is in the table of `invisible.ts`, which has more: ordinary text and icon
 * fonts contain spaces, signs of Arabic numbers and private use, so they are shown but not reported. The tables are explicit
 * instead of using the engine's Unicode data, which differs between versions of Node. All scans are linear.
 */
const BIDI: CodePointRanges = [
  [0x061c, 0x061c],
  [0x200e, 0x200f],
  [0x202a, 0x202e],
  [0x2066, 0x2069],
];

const INVISIBLE: CodePointRanges = [
  [0x00ad, 0x00ad],
  [0x034f, 0x034f],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200d],
  [0x2060, 0x2065],
  [0x206a, 0x206f],
  [0x2800, 0x2800],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0x13430, 0x1343f],
  [0x16fe4, 0x16fe4],
  [0x1bca0, 0x1bca3],
  [0x1d159, 0x1d159],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

/** Without tab, line feed and carriage return. `controls` handles carriage returns. */
const CONTROL: CodePointRanges = [
  [0x00, 0x08],
  [0x0b, 0x0c],
  [0x0e, 0x1f],
  [0x7f, 0x9f],
  [0x2028, 0x2029],
];

/** Scripts whose orthography uses joiners and non-joiners between letters. */
const JOINING: CodePointRanges = [
  [0x0600, 0x08ff],
  [0x0900, 0x0dff],
  [0x0f00, 0x109f],
  [0x1780, 0x18af],
  [0xa840, 0xa87f],
];

/** Scripts without spaces between words, in which U+200B marks where a line may break: Thai, Lao, Myanmar, Khmer. */
const UNSPACED: CodePointRanges = [
  [0x0e00, 0x0eff],
  [0x1000, 0x109f],
  [0x1780, 0x17ff],
];

/** The flags of England, Scotland and Wales. All other sequences of tags are hidden text. */
const TAGGED_FLAG =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/uy;

/** Symbols and ideographs, after which a selector or a joiner is usual. */
const PICTOGRAPH: CodePointRanges = [
  [0xa9, 0xa9],
  [0xae, 0xae],
  [0x203c, 0x27bf],
  [0x2900, 0x303d],
  [0x3297, 0x9fff],
  [0x1f000, 0x1faff],
];

/** Latin letters in another style: full-width, mathematical, the Kelvin sign, dotless i and long s. */
const STYLED: CodePointRanges = [
  [0x0131, 0x0131],
  [0x017f, 0x017f],
  [0x212a, 0x212a],
  [0xff21, 0xff3a],
  [0xff41, 0xff5a],
  [0x1d400, 0x1d7ff],
];

/** Kana, ideographs and Hangul, between which full-width letters are usual. */
const WIDE: CodePointRanges = [
  [0x3040, 0x30ff],
  [0x3400, 0x9fff],
  [0xac00, 0xd7a3],
];

/** Cyrillic, Greek, Armenian, Cherokee and Lisu: the scripts of LOOKALIKE. */
const FOREIGN: CodePointRanges = [
  [0x0370, 0x052f],
  [0x0531, 0x0587],
  [0x13a0, 0x13f5],
  [0xa4d0, 0xa4f7],
];

export function bidi(text: string): OddCharacter[] {
  return scan(text, (code) =>
    within(BIDI, code) ? `${codePointName(code)} changes the order in which text is shown` : null,
  );
}

/** Excludes joiners, selectors and flags in emoji, what other scripts need, and a byte order mark at the start. */
export function invisible(text: string): OddCharacter[] {
  let [before, flagEnd] = [0, 0];
  return scan(text, (code, index) => {
    const previous = before;
    before = code;
    if (code === 0x1f3f4) flagEnd = endOfFlag(text, index);
    if (!within(INVISIBLE, code) || index < flagEnd) return null;
    if (code === 0xfeff && index === 0) return null;
    const isSelector = code >= 0xfe00 && code <= 0xfe0f;
    // One selector after a symbol or ideograph selects its glyph; a second one can carry hidden data.
    if (isSelector && (within(PICTOGRAPH, previous) || previous === 0x23 || previous === 0x2a || isDigit(previous)))
      return null;
    if (code === 0x200d && (within(PICTOGRAPH, previous) || previous === 0xfe0f)) return null;
    if ((code === 0x200c || code === 0x200d) && within(JOINING, previous)) return null;
    if (code === 0x200b && within(UNSPACED, previous)) return null;
    return `${codePointName(code)} is not shown`;
  });
}

function endOfFlag(text: string, index: number): number {
  TAGGED_FLAG.lastIndex = index;
  return TAGGED_FLAG.test(text) ? TAGGED_FLAG.lastIndex : 0;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Control characters, and carriage returns without a line feed after them, with which a terminal overwrites the line. */
export function controls(text: string): OddCharacter[] {
  return scan(text, (code, index) => {
    if (within(CONTROL, code)) return `${codePointName(code)} is a control character`;
    return code === 0x0d && index + 1 < text.length && text.charCodeAt(index + 1) !== 0x0a
      ? 'a carriage return inside a line'
      : null;
  });
}

/** Letters of other scripts, of the phonetic alphabet, and Roman numerals that look like Latin letters. */
const LOOKALIKE = new Set(
  [
    ...'\u0251\u0261\u2170\u2174\u2179\u217c\u217d\u217e\u217f',
    ...'АВЕЅІЈКМНОРСТУХаеіјорсухѕԁһҽԛԝӏѵЬЗҮү',
    ...'ΑΒΕΖΗΙΚΜΝΟΡΤΥΧνορ',
    ...'օսոցհյքԼ',
    ...'ᎪᏴᏟᎠᎬᎻᎫᏦᏞᎷᏢᏚᎢᏙᎳᏃ',
    ...'ꓐꓚꓓꓰꓖꓗꓡꓟꓠꓳꓑꓢꓔꓴꓦꓪꓫꓬꓜꓮ',
  ].map((letter) => letter.codePointAt(0) as number),
);

/**
 * Signs that look like ASCII signs of code, and words that mix Latin letters with lookalikes. Unless `foreign`, also words of
 * lookalikes only: if the text has other letters of such a script, those words are probably text in that language.
 */
export function homoglyphs(text: string, foreign = hasForeignLetters(text)): OddCharacter[] {
  if (isAscii(text)) return [];
  const found: OddCharacter[] = scan(text, (code) => (code === 0x037e ? 'U+037E looks like a semicolon' : null));
  found.push(...lookalikeSigns(text).slice(0, MAX_FOUND - found.length));
  for (const { latin, alike, styled, other, index, length } of words(text)) {
    if (styled && !latin && isInEastAsian(text, index, length)) continue;
    if (styled || (latin && alike)) found.push({ index, length, what: 'a word of letters that only look Latin' });
    else if (!foreign && alike && !other && length > 1)
      found.push({ index, length, what: 'a word that only looks Latin' });
    if (found.length >= MAX_FOUND) break;
  }
  return found;
}

const FULL_WIDTH = /^[\uff21-\uff3a\uff41-\uff5a]+$/;

/** Full-width letters next to a letter of an East Asian script, as in 'ＮＨＫスペシャル'. */
function isInEastAsian(text: string, index: number, length: number): boolean {
  const isWide = (at: number): boolean => within(WIDE, text.codePointAt(at) ?? 0);
  return FULL_WIDTH.test(text.slice(index, index + length)) && (isWide(index - 1) || isWide(index + length));
}

/** True if the text has a letter of Cyrillic, Greek or a similar script that does not look like a Latin letter. */
export function hasForeignLetters(text: string): boolean {
  if (isAscii(text)) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f && within(FOREIGN, code) && !LOOKALIKE.has(code)) return true;
  }
  return false;
}

interface Word {
  readonly index: number;
  readonly length: number;
  readonly latin: boolean;
  readonly alike: boolean;
  readonly styled: boolean;
  /** Has a letter of Cyrillic, Greek or a similar script that does not look like a Latin letter. */
  readonly other: boolean;
}

function* words(text: string): Generator<Word> {
  let index = -1;
  let [latin, alike, styled, other] = [false, false, false, false];
  for (let i = 0; i <= text.length; i++) {
    const code = i < text.length ? (text.codePointAt(i) as number) : 0;
    const ascii = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f || isDigit(code);
    const letter = ascii || LOOKALIKE.has(code) || within(STYLED, code) || within(FOREIGN, code);
    if (letter) {
      if (index === -1) index = i;
      latin ||= ascii && code !== 0x5f && !isDigit(code);
      alike ||= LOOKALIKE.has(code);
      styled ||= within(STYLED, code);
      other ||= !ascii && !LOOKALIKE.has(code) && !within(STYLED, code);
    } else if (index !== -1) {
      if (alike || styled || other) yield { index, length: i - index, latin, alike, styled, other };
      index = -1;
      [latin, alike, styled, other] = [false, false, false, false];
    }
    if (code > 0xffff) i++;
  }
}
