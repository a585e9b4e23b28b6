const WORD = 1;
const TOKEN = 2;
const RUN = 4;

/** Classes of each code unit. A table, because it is several times faster than comparisons and is read for every unit of a text. */
const UNITS = new Uint8Array(0x10000);
const mark = (letters: string, bits: number): void => {
  for (let i = 0; i < letters.length; i++) UNITS[letters.charCodeAt(i)] = bits;
};
mark('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_', WORD | TOKEN | RUN);
mark('-.~', TOKEN | RUN);
mark('+/=', RUN);

/** Letters, digits and underscore, like `\w`. False for NaN, the code past the end of a text. */
export function isWord(code: number): boolean {
  return ((UNITS[code] as number) & WORD) !== 0;
}

/** Letters, digits, `_`, `-`, `.` and `~`: the characters of most tokens. */
export function isTokenUnit(code: number): boolean {
  return ((UNITS[code] as number) & TOKEN) !== 0;
}

/** Token units and `+`, `/`, `=`: includes all characters of base64. */
export function isRunUnit(code: number): boolean {
  return ((UNITS[code] as number) & RUN) !== 0;
}

export function isHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}

export function isSpace(letter: string | undefined): boolean {
  return letter === ' ' || letter === '\n' || letter === '\r' || letter === '\t';
}

export function isQuote(letter: string | undefined): boolean {
  return letter === '"' || letter === "'" || letter === '`';
}

/** White space, a quote or an angle bracket: ends a value without quotes. */
export function isBreak(letter: string): boolean {
  return isSpace(letter) || isQuote(letter) || letter === '<' || letter === '>';
}

/** Skips up to eight blanks and tabs. */
export function skipBlank(text: string, from: number): number {
  let i = from;
  while (i < text.length && i - from < 8 && (text[i] === ' ' || text[i] === '\t')) i++;
  return i;
}

/** True if `before`, the unit before `at`, ends an escape such as `\n` and so is not part of the following word. */
export function followsEscape(text: string, at: number, before: number): boolean {
  return (before === 0x6e || before === 0x72 || before === 0x74) && text.charCodeAt(at - 2) === 0x5c;
}

/** True if at least half of the value is in runs of three or more lower-case letters. Generated values rarely have such runs. */
export function isWordy(value: string): boolean {
  let [inWords, run] = [0, 0];
  for (let i = 0; i <= value.length; i++) {
    const code = value.charCodeAt(i);
    if (code >= 0x61 && code <= 0x7a) run++;
    else {
      if (run >= 3) inWords += run;
      run = 0;
    }
  }
  return inWords >= value.length / 2;
}

interface Classes {
  readonly upper: number;
  readonly lower: number;
  readonly digit: number;
  readonly other: number;
}

export function classesOf(text: string): Classes {
  let [upper, lower, digit, other] = [0, 0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x30 && code <= 0x39) digit++;
    else if (code >= 0x41 && code <= 0x5a) upper++;
    else if (code >= 0x61 && code <= 0x7a) lower++;
    else other++;
  }
  return { upper, lower, digit, other };
}

/** For `countsOf`: index in the counts by code unit, starting at 1. Reset to zero after each call. */
const PLACES = new Uint16Array(0x10000);

/** Number of occurrences of each distinct code unit, in order of first occurrence. The text must be shorter than 65,536 units. */
export function countsOf(text: string): number[] {
  const counts: number[] = [];
  const units: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const place = PLACES[code] as number;
    if (place === 0) {
      units.push(code);
      PLACES[code] = counts.push(1);
    } else counts[place - 1] = (counts[place - 1] as number) + 1;
  }
  for (const unit of units) PLACES[unit] = 0;
  return counts;
}

/** Shannon entropy in bits per code unit. */
export function entropyOf(text: string): number {
  let entropy = 0;
  for (const count of countsOf(text)) entropy -= (count / text.length) * Math.log2(count / text.length);
  return entropy;
}
