import { basicPassword } from './addresses';
import { isQuote, isSpace, isTokenUnit, skipBlank } from './characters';
import { operatorAfterWord } from './operator-after-word';

/** Separator of name and value: an operator, a comma, the parenthesis of a call, or only a blank (`PASSWORD 'x'`). */
type Separator = 'operator' | 'comma' | 'call' | 'blank';

/** Positions of a name and of the value that is assigned to it. */
export interface Assignment {
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly quoted: boolean;
  readonly by: Separator;
}

const MAX_NAME = 80;
const MAX_VALUE = 600;

/** A run of code units of one class. */
export interface Run {
  from: number;
  end: number;
}

/** The last scanned runs. Needed for linear time: without them a long run would be scanned again for each place in it. */
interface RunCache {
  readonly name: Run;
  readonly bare: Run;
}

export const newRunCache = (): RunCache => ({ name: { from: 0, end: 0 }, bare: { from: 0, end: 0 } });

/**
 * The assignment around a place in its name: `name = value`, `"name": "value"`, `name := 'value'`, `<name>value</name>`,
 * `--name value`, `name 'value'`, `name("value")`, `name: type = value`, and `name` followed by a field `value`.
 * Null if there is none. Reads a bounded part of the text.
 */
export function assignmentAt(text: string, place: number, runs: RunCache): Assignment | null {
  const { name, bare } = runs;
  if (place < name.from || place >= name.end) scanName(text, place, name);
  const nameStart = Math.max(name.from, place - MAX_NAME);
  const nameEnd = Math.min(name.end, place + MAX_NAME);
  // The name is longer than MAX_NAME: no separator follows within reach.
  if (nameEnd < name.end) return null;
  let i = nameEnd;
  // An escaped quote is a quote too: the text may be JSON inside JSON.
  if (text[i] === '\\' && isQuote(text[i + 1])) i++;
  if (isQuote(text[i])) i++;
  if (text[i] === ']') i++;
  i = skipBlank(text, i);
  const operator = operatorAfterWord(text, i);
  i = operator ?? i;
  let by: Separator = operator === null ? 'blank' : 'operator';
  let isColumn = false;
  let steps = 0;
  while (i < text.length && steps++ < 6 && '=:>|,?'.includes(text[i] as string)) {
    by = text[i] === ',' ? 'comma' : 'operator';
    isColumn = text[i] === '|' && text[i + 1] !== '|' && text[i - 1] !== '|';
    const isElement = text[i] === '>';
    i = skipBlank(text, i + 1);
    if (isElement) i = skipCdata(text, skipLine(text, i));
  }
  const block = by === 'operator' ? blockBefore(text, i) : null;
  if (block !== null) [i, isColumn] = [block, false];
  if (by === 'blank' && text[i] === '(' && isQuote(text[i + 1])) {
    by = 'call';
    i++;
  }
  if (by === 'blank' && i === nameEnd) return null;
  // Literal prefixes: `E'…'`, `f"…"`, `@"…"`.
  if (isQuote(text[i + 1]) && PREFIXES.includes(text[i] as string)) i++;
  if (text[i] === '\\' && isQuote(text[i + 1])) i++;
  const quote = text[i];
  if (isQuote(quote)) {
    const start = i + 1 + schemeLength(text, i + 1);
    const end = endOfQuoted(text, start, quote as string);
    return { nameStart, nameEnd, valueStart: start, valueEnd: end, quoted: true, by };
  }
  const isOption = text.startsWith('--', nameStart - 2) || text.startsWith('--', nameStart);
  if (by === 'blank' && !isOption) return null;
  const scheme = schemeLength(text, i);
  if (scheme > 0) i = skipBlank(text, i + scheme);
  if (i < bare.from || i >= bare.end) {
    bare.from = i;
    bare.end = i;
    while (bare.end < text.length && !endsBare(text, bare.end)) bare.end++;
  }
  const end = Math.min(bare.end, i + MAX_VALUE);
  // A table cell ends with another `|`. Without it, `|` is a pipe, a template filter or a union of types.
  if (end === i || (isColumn && text[skipBlank(text, end)] !== '|')) return null;
  return { nameStart, nameEnd, valueStart: i, valueEnd: end, quoted: false, by: isOption ? 'operator' : by };
}

const PREFIXES = ['E', 'e', 'N', 'f', 'b', 'r', 'u', '@'];

/**
 * Start of a value that is not on the line of its name: the block scalar of YAML (`password: |-`), or a quoted string. Null
 * for any other value.
 */
function blockBefore(text: string, at: number): number | null {
  let i = at;
  const isBlock = text[at - 1] === '|' || text[at - 1] === '>';
  if (isBlock && (text[i] === '-' || text[i] === '+')) i++;
  const next = skipLine(text, i);
  return next > i && (isBlock || isQuote(text[next])) ? next : null;
}

function skipCdata(text: string, at: number): number {
  return text.startsWith('<![CDATA[', at) ? at + '<![CDATA['.length : at;
}

/** Skips one line break, the "+" or "-" before the next line of a patch, and the following blanks. */
function skipLine(text: string, at: number): number {
  let i = at;
  if (text[i] === '\r') i++;
  if (text[i] !== '\n') return at;
  i++;
  if (text[i] === '+' || text[i] === '-') i++;
  const last = i + 40;
  while (i < last && (text[i] === ' ' || text[i] === '\t')) i++;
  return i;
}

function scanName(text: string, place: number, name: Run): void {
  name.from = place;
  while (name.from > 0 && isNameUnit(text.charCodeAt(name.from - 1))) name.from--;
  name.end = place;
  while (name.end < text.length && isNameUnit(text.charCodeAt(name.end))) name.end++;
}

function isNameUnit(code: number): boolean {
  return isTokenUnit(code) && code !== 0x7e;
}

/** Length of an authentication scheme before the value: `Bearer `, `Token `, and `Basic ` unless `basicCredentials` reads the pair. */
function schemeLength(text: string, at: number): number {
  const lower = text.slice(at, at + 8).toLowerCase();
  const scheme = ['bearer ', 'basic ', 'token '].find((word) => lower.startsWith(word)) ?? '';
  const start = at + scheme.length;
  const isPair = scheme === 'basic ' && basicPassword(base64At(text, start)) !== null;
  return isPair ? 0 : scheme.length;
}

function base64At(text: string, start: number): string {
  return /^[A-Za-z0-9+/_-]*/.exec(text.slice(start, start + 400))?.[0] ?? '';
}

function endsBare(text: string, at: number): boolean {
  const letter = text[at] as string;
  if (isSpace(letter) || isQuote(letter) || ',;<>)]}&'.includes(letter)) return true;
  // "=" is base64 padding at the end of a value, but an operator if more text follows.
  if (letter === '=' && isTokenUnit(text.charCodeAt(at + 1))) return true;
  // An escaped line break, tab or quote.
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
