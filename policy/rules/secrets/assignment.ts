import { isQuote, isSpace, isTokenUnit, skipBlank } from './characters';

/** A name with what is assigned to it: places in the text. */
export interface Assignment {
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly quoted: boolean;
  /** False where the value only follows the name: `PASSWORD 'x'`. */
  readonly operator: boolean;
}

const MAX_NAME = 80;
const MAX_VALUE = 600;

/** A stretch of units of one sort. */
export interface Run {
  from: number;
  end: number;
}

/** The stretches that were walked over last, so that no text is walked over again and again. */
export interface Walked {
  readonly name: Run;
  readonly bare: Run;
}

export const nothingWalked = (): Walked => ({ name: { from: 0, end: 0 }, bare: { from: 0, end: 0 } });

/**
 * The assignment around a place in its name: `name = value`, `"name": "value"`, `name := 'value'`, `<name>value</name>`,
 * `--name value`, `name 'value'`. Null where there is none. Looks at a bounded piece of the text.
 */
export function assignmentAt(text: string, place: number, walked: Walked): Assignment | null {
  const { name, bare } = walked;
  if (place < name.from || place >= name.end) walkName(text, place, name);
  const nameStart = Math.max(name.from, place - MAX_NAME);
  const nameEnd = Math.min(name.end, place + MAX_NAME);
  let i = nameEnd;
  // An escaped quote is a quote, too: the text may be JSON inside JSON.
  if (text[i] === '\\' && isQuote(text[i + 1])) i++;
  if (isQuote(text[i]) || text[i] === ']') i++;
  i = skipBlank(text, i);
  let operator = false;
  let steps = 0;
  while (i < text.length && steps++ < 6 && '=:>|,?'.includes(text[i] as string)) {
    operator = true;
    i = skipBlank(text, i + 1);
  }
  if (!operator && i === nameEnd) return null;
  if ((text[i] === 'E' || text[i] === 'e' || text[i] === 'N') && text[i + 1] === "'") i++;
  if (text[i] === '\\' && isQuote(text[i + 1])) i++;
  const quote = text[i];
  if (isQuote(quote)) {
    const end = endOfQuoted(text, i + 1, quote as string);
    return { nameStart, nameEnd, valueStart: i + 1, valueEnd: end, quoted: true, operator };
  }
  if (!operator && !text.startsWith('--', nameStart - 2) && !text.startsWith('--', nameStart)) return null;
  const scheme = schemeLength(text, i);
  if (scheme > 0) i = skipBlank(text, i + scheme);
  if (i < bare.from || i >= bare.end) {
    bare.from = i;
    bare.end = i;
    while (bare.end < text.length && !endsBare(text, bare.end)) bare.end++;
  }
  const end = Math.min(bare.end, i + MAX_VALUE);
  return end === i ? null : { nameStart, nameEnd, valueStart: i, valueEnd: end, quoted: false, operator };
}

function walkName(text: string, place: number, name: Run): void {
  name.from = place;
  while (name.from > 0 && isNameUnit(text.charCodeAt(name.from - 1))) name.from--;
  name.end = place;
  while (name.end < text.length && isNameUnit(text.charCodeAt(name.end))) name.end++;
}

function isNameUnit(code: number): boolean {
  return isTokenUnit(code) && code !== 0x7e;
}

/** `Bearer `, `Basic `, `Token ` before the value itself. */
function schemeLength(text: string, at: number): number {
  const lower = text.slice(at, at + 8).toLowerCase();
  return ['bearer ', 'basic ', 'token '].find((word) => lower.startsWith(word))?.length ?? 0;
}

function endsBare(text: string, at: number): boolean {
  const letter = text[at] as string;
  if (isSpace(letter) || isQuote(letter) || ',;<>)]}&'.includes(letter)) return true;
  // Padding ends a value; with more behind it, it is another assignment.
  if (letter === '=' && isTokenUnit(text.charCodeAt(at + 1))) return true;
  // An escape that ends a line or a string.
  return letter === '\\' && 'nrt"\''.includes(text[at + 1] ?? '');
}

function endOfQuoted(text: string, start: number, quote: string): number {
  const last = Math.min(text.length, start + MAX_VALUE);
  for (let i = start; i < last; i++) {
    if (text[i] === '\n') return i;
    if (text[i] === '\\') {
      if (text[i + 1] === quote) return i;
      i++;
    } else if (text[i] === quote) return i;
  }
  return last;
}
