import { codePointName } from './code-points';
import { MAX_FOUND, type OddCharacter } from './odd-character';

/**
 * Characters that look like ASCII signs. Maths, typography, East Asian text and the languages of southern Africa use nearly all
 * of them, so a character alone says nothing. It is reported only as a part of something that code has and prose does not have:
 *
 * L1 an operator of several signs, of which others are ASCII: `a ǃ= b`;
 * L2 the beginning or the end of a comment, with any spelling of both signs: `∗/`;
 * L3 an address or a path: `https://example.com∕login`, `..∕secrets`;
 * L4 the equals sign or colon between a name and its value, at the start of a line if prose has the sign too: `admin＝true`;
 * L5 a sign between ASCII characters of code for which the sign is not made: `os․remove`;
 * L6 a letter in the place of a sign before or around a name: `ǃisAllowed(user)`, `ʼadminʼ`.
 *
 * Not reported, because prose has the same: a click letter or a minus alone, curved apostrophes, full-width signs alone or
 * next to East Asian text, and a division sign, asterisk or vertical bar between names.
 */
const ALIKE: Readonly<Record<string, string>> = {
  '!': '\u01c3\uff01\ufe57',
  '&': '\uff06\ufe60',
  "'": '\u02b9\u02bc\ua78c',
  '*': '\u204e\u2217\uff0a\ufe61',
  '+': '\uff0b\ufe62',
  ',': '\u201a',
  '-': '\u2212\uff0d\ufe63',
  '.': '\u2024\ufe52\uff0e',
  '/': '\u2044\u2215\u29f8\uff0f',
  ':': '\u2236\ua789',
  ';': '\u204f\ufe54',
  '<': '\u1438\uff1c\ufe64',
  '=': '\u1400\u2e40\u30a0\ua78a\uff1d\ufe66',
  '>': '\u1433\uff1e\ufe65',
  '|': '\u01c0\u2223\uff5c\uffe8',
};

const SIGNS: ReadonlyMap<string, string> = new Map(
  Object.entries(ALIKE).flatMap(([sign, alike]) => [...alike].map((character) => [character, sign] as const)),
);
const ANY = new RegExp(`[${Object.values(ALIKE).join('')}]`);
const ALL = new RegExp(ANY, 'g');

/** L1, in a text with ASCII signs in place of the characters that look like them. */
const OPERATOR = /[!=]==?|[<>+\-/&]=|(?<=[\w)\]][\w)\]]|\s)\*=|=>|(?<=[\w)\]])->(?=[A-Za-z_])|&&|\|\||::/g;
/** Kana, ideographs, Hangul and full-width characters. */
const EAST_ASIAN = /[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff00-\uffef]/;
const WIDE = /[\u30a0\ufe50-\ufe6f\uff00-\uffef]/;

/** Without full-width ones, which faces such as `(*／ω＼*)` contain. */
const SLASH = '\u2044\u2215\u29f8';
const STAR = '\u204e\u2217';
const LONE_LETTER = '(?<![\\p{L}\\d_])\\p{L}';
/**
 * Not in the patterns of programs that replace these signs, such as `/∗/` and `[/∕]`. The end of a comment directly after a
 * lone letter is one only before a blank: `p∗/q∗` is a ratio.
 */
const COMMENT = new RegExp(
  [
    `(?<![/[]):?[/${SLASH}]{2}(?![/\\]])`,
    `[/${SLASH}][*${STAR}](?!/)`,
    `(?<!/|${LONE_LETTER})[*${STAR}][/${SLASH}]`,
    `(?<!/)[*${STAR}][/${SLASH}](?=\\s|$)`,
  ].join('|'),
  'gu',
);

const ADDRESS = new RegExp(`://(?:[\\w!#$%&*+,\\-./:;=?@~\u2024\u2236\ua789${SLASH}]|[\ufe52\uff0e](?=\\w))+`, 'g');
const PATH_START = new RegExp(`(?<![^\\s"'\`(=:,{<>!|[])(?:~|\\.{1,2})?[${SLASH}][A-Za-z_]{2}`, 'g');
const WORD = new RegExp(`[\\w.~@/${SLASH}-]+`, 'g');
const FRACTION = new RegExp(`\\d[${SLASH}]\\d`, 'g');

const PATTERNS = [
  COMMENT,
  ADDRESS,
  PATH_START,
  // L4
  /[\w)\]]([ \t]?)[\u1400\u2e40\u30a0\ua78a]\1[!-~]/g,
  /^[ \t]*(?:[-+*] |--|export )?["']?[A-Za-z_][\w.-]+["']?[ \t]*(?:[\uff1d\ufe66](?=[ \t]*[!-~])|[\u2236\ua789](?=[ \t]+[!-~]|[ \t]*$))/gm,
  // L5
  /(?<=\w)[\u1433\u1438](?=\w)|(?<=[A-Za-z_])\u2024(?=\w)|(?<=\w)\u2024(?=[A-Za-z_])/g,
  /(?<=[\w)\]])[\u201a\u204f\ufe54]/g,
  // L6
  /(?<![\p{L}\d_])\u01c3+(?=[a-z]+[A-Z]|[a-z_]\w*\()/gu,
  /(?<![\p{L}\d_])([\u02b9\u02bc\ua78c])\w[\w.:/@-]*\1(?![\p{L}\d_])/gu,
];

/** Ascending; at most MAX_FOUND. */
export function lookalikeSigns(text: string): OddCharacter[] {
  if (!ANY.test(text)) return [];
  const places = [operators(text), paths(text), ...PATTERNS.map((pattern) => text.matchAll(pattern))].flatMap(signsIn);
  return [...new Set(places)]
    .sort((a, b) => a - b)
    .slice(0, MAX_FOUND)
    .map((index) => {
      const what = `${codePointName(text.charCodeAt(index))} looks like ${SIGNS.get(text.charAt(index))}`;
      return { index, length: 1, what };
    });
}

/** Positions of the signs in parts that are in ascending order. A megabyte can have half a million of them. */
function signsIn(parts: Iterable<Part>): number[] {
  const places: number[] = [];
  for (const part of parts) {
    for (const sign of part[0].matchAll(ALL)) {
      places.push(part.index + sign.index);
      if (places.length === MAX_FOUND) return places;
    }
  }
  return places;
}

interface Part {
  readonly 0: string;
  readonly index: number;
}

function* operators(text: string): Generator<Part> {
  const ascii = text.replace(ALL, (character) => SIGNS.get(character) ?? character);
  for (const { 0: operator, index } of ascii.matchAll(OPERATOR)) {
    const end = index + operator.length;
    const written = text.slice(index, end);
    if (written === operator || !/[!-~]/.test(written)) continue;
    if (WIDE.test(written) && isEastAsian(text, index, end)) continue;
    yield { 0: written, index };
  }
}

/** True next to East Asian text, or in a set of characters of a pattern, such as `[=＝]`. */
function isEastAsian(text: string, index: number, end: number): boolean {
  if (text[index - 1] === '[' || text[end] === ']') return true;
  const before = text[index - 1] === ' ' ? index - 2 : index - 1;
  const after = text[end] === ' ' ? end + 1 : end;
  return EAST_ASIAN.test(`${text[before] ?? ''}${text[after] ?? ''}`);
}

/** Words with a slash and a name, that have a true slash too or a dot before a name. */
function* paths(text: string): Generator<Part> {
  for (const word of text.matchAll(WORD)) {
    const name = word[0].replace(FRACTION, '');
    if (ANY.test(name) && /[A-Za-z]{3}/.test(name) && /\/|\w\.[A-Za-z]{2}/.test(name)) yield word;
  }
}
