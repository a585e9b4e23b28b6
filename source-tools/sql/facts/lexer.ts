/**
 * PostgreSQL's lexical rules, reduced to where tokens start and end. One linear pass over bytes.
 * Only the parser decides what the text means. These tokens give positions, nesting depth and identifier lengths, so a mistake here
 * can shift a span but cannot hide a statement.
 */
export const Tok = { Word: 1, QuotedName: 2, String: 3, Dollar: 4, Number: 5, Operator: 6, Punctuation: 7 } as const;
export type Tok = (typeof Tok)[keyof typeof Tok];

export interface Tokens {
  readonly count: number;
  readonly kinds: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

const NL = 10;
const CR = 13;
const SPACE = 32;
const QUOTE2 = 34;
const DOLLAR = 36;
const QUOTE1 = 39;
const STAR = 42;
const MINUS = 45;
const DOT = 46;
const SLASH = 47;
const BACKSLASH = 92;
const AMPERSAND = 38;
const PLUS = 43;
const COLON = 58;
const EQUALS = 61;
const LETTER_E = 101;
const LETTER_U = 117;

const isBlank = (c: number): boolean => c === SPACE || (c >= 9 && c <= CR);
const isDigit = (c: number): boolean => c >= 48 && c <= 57;
const isNameStart = (c: number): boolean => (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95 || c >= 128;
const isNamePart = (c: number): boolean => isNameStart(c) || isDigit(c) || c === DOLLAR;
const OPERATOR = new Uint8Array(256);
for (const c of '+-*/<>=~!@#%^&|`?') OPERATOR[c.charCodeAt(0)] = 1;
/** True for a character of operators. */
export const isOperator = (c: number | undefined): boolean => OPERATOR[c ?? 0] === 1;

/** Reads all tokens of `bytes`, without comments and whitespace. An unterminated token ends with the text. */
export function lex(bytes: Uint8Array): Tokens {
  const found = new TokenList();
  let i = 0;
  while (i < bytes.length) {
    const c = bytes[i] as number;
    if (isBlank(c)) i++;
    else if (c === MINUS && bytes[i + 1] === MINUS) i = skipLineComment(bytes, i);
    else if (c === SLASH && bytes[i + 1] === STAR) i = skipComment(bytes, i);
    else {
      const { kind, end } = tokenAt(bytes, i, c);
      found.push(kind, i, end);
      i = end;
    }
  }
  return found.tokens();
}

/** Growable typed arrays: a text of a megabyte can have hundreds of thousands of tokens. */
class TokenList {
  private capacity = 1024;
  private count = 0;
  private kinds = new Uint8Array(this.capacity);
  private starts = new Uint32Array(this.capacity);
  private ends = new Uint32Array(this.capacity);

  push(kind: Tok, start: number, end: number): void {
    if (this.count === this.capacity) this.grow();
    this.kinds[this.count] = kind;
    this.starts[this.count] = start;
    this.ends[this.count++] = end;
  }

  tokens(): Tokens {
    const { count, kinds, starts, ends } = this;
    return { count, kinds: kinds.subarray(0, count), starts: starts.subarray(0, count), ends: ends.subarray(0, count) };
  }

  private grow(): void {
    this.capacity *= 2;
    const { kinds, starts, ends } = this;
    this.kinds = new Uint8Array(this.capacity);
    this.kinds.set(kinds);
    this.starts = new Uint32Array(this.capacity);
    this.starts.set(starts);
    this.ends = new Uint32Array(this.capacity);
    this.ends.set(ends);
  }
}

interface Token {
  readonly kind: Tok;
  readonly end: number;
}

/** The token that starts at `i` with the byte `c`, which is neither whitespace nor the start of a comment. */
function tokenAt(bytes: Uint8Array, i: number, c: number): Token {
  const next = bytes[i + 1] ?? 0;
  if (c === QUOTE1) return { kind: Tok.String, end: skipString(bytes, i, false) };
  if (c === QUOTE2) return { kind: Tok.QuotedName, end: skipQuotedName(bytes, i) };
  if (isNameStart(c)) return wordOrPrefixedString(bytes, i, c);
  if (isDigit(c) || (c === DOT && isDigit(next))) return { kind: Tok.Number, end: skipNumber(bytes, i) };
  if (c === DOLLAR) {
    const end = skipDollar(bytes, i);
    return { kind: end === i + 1 ? Tok.Punctuation : isDigit(next) ? Tok.Word : Tok.Dollar, end };
  }
  if (isOperator(c)) return { kind: Tok.Operator, end: skipOperator(bytes, i) };
  if (c === COLON && (next === COLON || next === EQUALS)) return { kind: Tok.Operator, end: i + 2 };
  return { kind: Tok.Punctuation, end: i + 1 };
}

/** A word, a string with a one-letter prefix (E, B, X, N), or a string or name with the prefix `U&`. */
function wordOrPrefixedString(bytes: Uint8Array, start: number, c: number): Token {
  const next = bytes[start + 1] ?? 0;
  const letter = c | 32;
  if (next === QUOTE1 && 'ebxn'.includes(String.fromCharCode(letter)))
    return { kind: Tok.String, end: skipString(bytes, start + 1, letter === LETTER_E) };
  if (letter === LETTER_U && next === AMPERSAND) {
    if (bytes[start + 2] === QUOTE1) return { kind: Tok.String, end: skipString(bytes, start + 2, false) };
    if (bytes[start + 2] === QUOTE2) return { kind: Tok.QuotedName, end: skipQuotedName(bytes, start + 2) };
  }
  let i = start;
  while (i < bytes.length && isNamePart(bytes[i] as number)) i++;
  return { kind: Tok.Word, end: i };
}

function skipNumber(bytes: Uint8Array, start: number): number {
  const at = (i: number): number => bytes[i] ?? 0;
  let i = start;
  while (
    i < bytes.length &&
    (isNameStart(at(i)) ||
      isDigit(at(i)) ||
      (at(i) === DOT && at(i + 1) !== DOT) ||
      ((at(i) === PLUS || at(i) === MINUS) && (at(i - 1) | 32) === LETTER_E && isDigit(at(i + 1))))
  )
    i++;
  return i;
}

/** End of an operator, which ends where a comment starts. */
function skipOperator(bytes: Uint8Array, start: number): number {
  let i = start;
  while (i < bytes.length && isOperator(bytes[i])) {
    const startsComment =
      (bytes[i] === MINUS && bytes[i + 1] === MINUS) || (bytes[i] === SLASH && bytes[i + 1] === STAR);
    if (i > start && startsComment) break;
    i++;
  }
  return i;
}

export function skipLineComment(bytes: Uint8Array, start: number): number {
  let i = start;
  while (i < bytes.length && bytes[i] !== NL && bytes[i] !== CR) i++;
  return i;
}

export function skipComment(bytes: Uint8Array, start: number): number {
  let depth = 0;
  let i = start;
  while (i < bytes.length) {
    if (bytes[i] === SLASH && bytes[i + 1] === STAR) {
      depth++;
      i += 2;
    } else if (bytes[i] === STAR && bytes[i + 1] === SLASH) {
      depth--;
      i += 2;
      if (depth === 0) return i;
    } else i++;
  }
  return bytes.length;
}

function skipString(bytes: Uint8Array, open: number, escapes: boolean): number {
  let i = open + 1;
  while (i < bytes.length) {
    const c = bytes[i];
    if (escapes && c === BACKSLASH) i += 2;
    else if (c === QUOTE1 && bytes[i + 1] === QUOTE1) i += 2;
    else if (c === QUOTE1) {
      const next = continuation(bytes, i + 1);
      if (next === null) return i + 1;
      i = next + 1;
    } else i++;
  }
  return bytes.length;
}

/**
 * Index of the quote that continues a string which ended before `i`, with the same escapes: after white space that contains a line
 * end, and comments (https://www.postgresql.org/docs/18/sql-syntax-lexical.html#SQL-SYNTAX-STRINGS). Null if there is none.
 */
function continuation(bytes: Uint8Array, start: number): number | null {
  let isNewLine = false;
  for (let i = start; i < bytes.length;) {
    const c = bytes[i] as number;
    if (c === QUOTE1) return isNewLine ? i : null;
    if (c === MINUS && bytes[i + 1] === MINUS) i = skipLineComment(bytes, i);
    else if (isBlank(c)) {
      isNewLine ||= c === NL || c === CR;
      i++;
    } else return null;
  }
  return null;
}

function skipQuotedName(bytes: Uint8Array, open: number): number {
  let i = open + 1;
  while (i < bytes.length) {
    if (bytes[i] === QUOTE2) {
      if (bytes[i + 1] !== QUOTE2) return i + 1;
      i += 2;
    } else i++;
  }
  return bytes.length;
}

/** End of a dollar-quoted string, of a parameter (`$1`), or of a single `$`. */
function skipDollar(bytes: Uint8Array, start: number): number {
  let i = start + 1;
  if (isDigit(bytes[i] ?? 0)) {
    while (isDigit(bytes[i] ?? 0)) i++;
    return i;
  }
  if (isNameStart(bytes[i] ?? 0)) while (isNameStart(bytes[i] ?? 0) || isDigit(bytes[i] ?? 0)) i++;
  if (bytes[i] !== DOLLAR) return start + 1;
  const tag = bytes.subarray(start, i + 1);
  let from = i + 1;
  for (;;) {
    const close = bytes.indexOf(DOLLAR, from);
    if (close === -1 || close + tag.length > bytes.length) return bytes.length;
    let same = true;
    for (let k = 0; k < tag.length && same; k++) same = bytes[close + k] === tag[k];
    if (same) return close + tag.length;
    // The last `$` of a failed match may be the first one of the closing tag.
    from = close + 1;
  }
}

/** Index of the first token that starts at or after `offset`, or `tokens.count` if there is none. */
export function tokenAtOrAfter(tokens: Tokens, offset: number): number {
  let low = 0;
  let high = tokens.count;
  while (low < high) {
    const mid = (low + high) >>> 1;
    if ((tokens.starts[mid] as number) < offset) low = mid + 1;
    else high = mid;
  }
  return low;
}

/** Lowercase text of an unquoted word of at most 32 bytes, else ''. */
export function wordOf(bytes: Uint8Array, tokens: Tokens, index: number): string {
  if (index < 0 || index >= tokens.count || tokens.kinds[index] !== Tok.Word) return '';
  const start = tokens.starts[index] as number;
  const end = tokens.ends[index] as number;
  if (end - start > 32) return '';
  let word = '';
  for (let i = start; i < end; i++) {
    const c = bytes[i] as number;
    word += String.fromCharCode(c >= 65 && c <= 90 ? c + 32 : c);
  }
  return word;
}

/** Character of a punctuation token, else ''. */
export function punctuationOf(bytes: Uint8Array, tokens: Tokens, index: number): string {
  return tokens.kinds[index] === Tok.Punctuation
    ? String.fromCharCode(bytes[tokens.starts[index] as number] as number)
    : '';
}
