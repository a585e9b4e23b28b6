/**
 * Characters that make text look other than it is. Tables are written out and not asked of the engine's Unicode data,
 * which differs between versions of Node. All scans are linear.
 */
export interface OddCharacter {
  /** Position in UTF-16 units, and how many. */
  readonly index: number;
  readonly length: number;
  /** Safe to print. */
  readonly what: string;
}

type Ranges = readonly (readonly [number, number])[];

const BIDI: Ranges = [
  [0x061c, 0x061c],
  [0x200e, 0x200f],
  [0x202a, 0x202e],
  [0x2066, 0x2069],
];

const INVISIBLE: Ranges = [
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
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];

/** Without tab, line feed and carriage return, which `controls` looks at by itself. */
const CONTROL: Ranges = [
  [0x00, 0x08],
  [0x0b, 0x0c],
  [0x0e, 0x1f],
  [0x7f, 0x9f],
  [0x2028, 0x2029],
];

/** Scripts in which a joiner or non-joiner between letters is spelling. */
const JOINING: Ranges = [
  [0x0600, 0x08ff],
  [0x0900, 0x0dff],
  [0x0f00, 0x109f],
  [0x1780, 0x18af],
  [0xa840, 0xa87f],
];

export function bidi(text: string): OddCharacter[] {
  return scan(text, (code) => (within(BIDI, code) ? `${named(code)} changes the order in which text is shown` : null));
}

/** Without the joiners and selectors of emoji and of scripts that need them, and without a mark at the very beginning. */
export function invisible(text: string): OddCharacter[] {
  let before = 0;
  return scan(text, (code, index) => {
    const previous = before;
    before = code;
    if (!within(INVISIBLE, code)) return null;
    if (code === 0xfeff && index === 0) return null;
    const isSelector = code >= 0xfe00 && code <= 0xfe0f;
    // One selector after a symbol or ideograph is how it is drawn; a second one carries data.
    if (isSelector && (isPictograph(previous) || previous === 0x23 || previous === 0x2a || isDigit(previous)))
      return null;
    if (code === 0x200d && (isPictograph(previous) || previous === 0xfe0f)) return null;
    if ((code === 0x200c || code === 0x200d) && within(JOINING, previous)) return null;
    return `${named(code)} is not shown`;
  });
}

function isPictograph(code: number): boolean {
  return (
    code === 0xa9 ||
    code === 0xae ||
    (code >= 0x203c && code <= 0x27bf) ||
    (code >= 0x2900 && code <= 0x303d) ||
    (code >= 0x3297 && code <= 0x9fff) ||
    (code >= 0x1f000 && code <= 0x1faff)
  );
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Control characters, and a carriage return that no line feed follows: terminals go back and write over the line. */
export function controls(text: string): OddCharacter[] {
  return scan(text, (code, index) => {
    if (within(CONTROL, code)) return `${named(code)} is a control character`;
    return code === 0x0d && index + 1 < text.length && text.charCodeAt(index + 1) !== 0x0a
      ? 'a carriage return inside a line'
      : null;
  });
}

/** Letters of other scripts that are drawn as Latin ones. */
const LOOKALIKE = new Set(
  [
    ...'АВЕЅІЈКМНОРСТУХаеіјорсухѕԁһҽԛԝӏѵЬЗҮү',
    ...'ΑΒΕΖΗΙΚΜΝΟΡΤΥΧνορ',
    ...'օսոցհյքԼ',
    ...'ᎪᏴᏟᎠᎬᎻᎫᏦᏞᎷᏢᏚᎢᏙᎳᏃ',
    ...'ꓐꓚꓓꓰꓖꓗꓡꓟꓠꓳꓑꓢꓔꓴꓦꓪꓫꓬꓜꓮ',
  ].map((letter) => letter.codePointAt(0) as number),
);

function isStyled(code: number): boolean {
  return (
    (code >= 0xff21 && code <= 0xff3a) ||
    (code >= 0xff41 && code <= 0xff5a) ||
    (code >= 0x1d400 && code <= 0x1d7ff) ||
    code === 0x212a ||
    code === 0x0131 ||
    code === 0x017f
  );
}

/**
 * Words of Latin letters mixed with letters drawn alike. Words of such letters alone, too, unless `foreign`: where the
 * text has other words of that script, it is text in that language.
 */
export function homoglyphs(text: string, foreign = hasForeignLetters(text)): OddCharacter[] {
  if (isAscii(text)) return [];
  const found: OddCharacter[] = [];
  for (const { latin, alike, styled, other, index, length } of words(text)) {
    if (styled || (latin && alike)) found.push({ index, length, what: 'a word of letters that only look Latin' });
    else if (!foreign && alike && !other && length > 1)
      found.push({ index, length, what: 'a word that only looks Latin' });
    if (found.length >= MAX_FOUND) break;
  }
  return found;
}

/** Whether there is a letter of Cyrillic, Greek and their like that no Latin letter looks like. */
export function hasForeignLetters(text: string): boolean {
  if (isAscii(text)) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0x7f && isOther(code) && !LOOKALIKE.has(code)) return true;
  }
  return false;
}

interface Word {
  readonly index: number;
  readonly length: number;
  readonly latin: boolean;
  readonly alike: boolean;
  readonly styled: boolean;
  /** A letter of Cyrillic, Greek and their like that no Latin letter looks like. */
  readonly other: boolean;
}

function* words(text: string): Generator<Word> {
  let index = -1;
  let [latin, alike, styled, other] = [false, false, false, false];
  for (let i = 0; i <= text.length; i++) {
    const code = i < text.length ? (text.codePointAt(i) as number) : 0;
    const ascii = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f || isDigit(code);
    const letter = ascii || LOOKALIKE.has(code) || isStyled(code) || isOther(code);
    if (letter) {
      if (index === -1) index = i;
      latin ||= ascii && code !== 0x5f && !isDigit(code);
      alike ||= LOOKALIKE.has(code);
      styled ||= isStyled(code);
      other ||= !ascii && !LOOKALIKE.has(code) && !isStyled(code);
    } else if (index !== -1) {
      if (alike || styled || other) yield { index, length: i - index, latin, alike, styled, other };
      index = -1;
      [latin, alike, styled, other] = [false, false, false, false];
    }
    if (code > 0xffff) i++;
  }
}

function isOther(code: number): boolean {
  return (
    (code >= 0x0370 && code <= 0x03ff) ||
    (code >= 0x0400 && code <= 0x052f) ||
    (code >= 0x0531 && code <= 0x0587) ||
    (code >= 0x13a0 && code <= 0x13f5) ||
    (code >= 0xa4d0 && code <= 0xa4f7)
  );
}

const BEYOND_ASCII = /[\u0080-\uffff]/;

function isAscii(text: string): boolean {
  return !BEYOND_ASCII.test(text);
}

/** Anything but printable ASCII, line feeds and tabs. Most texts hold none, and the engine's own search says so fast. */
const UNUSUAL = /[^ -~\n\t]/;

/** Whether the text holds nothing but these, and so nothing that is looked for here. */
export function isOrdinary(text: string): boolean {
  return !UNUSUAL.test(text);
}

/** Past this many of one kind in one text the rest says nothing new. */
const MAX_FOUND = 1000;

function scan(text: string, say: (code: number, index: number) => string | null): OddCharacter[] {
  const found: OddCharacter[] = [];
  if (isOrdinary(text)) return found;
  for (let i = 0; i < text.length && found.length < MAX_FOUND; i++) {
    const code = text.codePointAt(i) as number;
    const length = code > 0xffff ? 2 : 1;
    const what = say(code, i);
    if (what !== null) found.push({ index: i, length, what });
    i += length - 1;
  }
  return found;
}

function within(ranges: Ranges, code: number): boolean {
  if (code >= 0x20 && code < 0x7f) return false;
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = ranges[middle] as readonly [number, number];
    if (code < first) high = middle - 1;
    else if (code > last) low = middle + 1;
    else return true;
  }
  return false;
}

function named(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
