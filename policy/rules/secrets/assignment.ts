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

/** The last piece without a break that was looked at, so that no text is walked over again and again. */
export interface BareRun {
  from: number;
  end: number;
}

/**
 * The assignment around a place in its name: `name = value`, `"name": "value"`, `name := 'value'`, `<name>value</name>`,
 * `--name value`, `name 'value'`. Null where there is none. Looks at a bounded piece of the text.
 */
export function assignmentAt(text: string, place: number, run: BareRun): Assignment | null {
  let nameStart = place;
  while (nameStart > 0 && place - nameStart < MAX_NAME && isNameUnit(text, nameStart - 1)) nameStart--;
  let nameEnd = place;
  while (nameEnd < text.length && nameEnd - place < MAX_NAME && isNameUnit(text, nameEnd)) nameEnd++;
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
  if (i < run.from || i >= run.end) {
    run.from = i;
    run.end = i;
    while (run.end < text.length && !endsBare(text, run.end)) run.end++;
  }
  const end = Math.min(run.end, i + MAX_VALUE);
  return end === i ? null : { nameStart, nameEnd, valueStart: i, valueEnd: end, quoted: false, operator };
}

function isNameUnit(text: string, at: number): boolean {
  return isTokenUnit(text.charCodeAt(at)) && text[at] !== '~';
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
