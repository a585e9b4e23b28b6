/**
 * PostgreSQL's lexical rules, as far as places need them: where tokens begin and end. One pass, linear, over bytes.
 * The verdict on the text is the parser's; these tokens only give positions, nesting and identifier lengths, so a
 * disagreement can shift a span but not hide a statement.
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

const isBlank = (c: number): boolean => c === SPACE || (c >= 9 && c <= CR);
const isDigit = (c: number): boolean => c >= 48 && c <= 57;
const isNameStart = (c: number): boolean => (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95 || c >= 128;
const isNamePart = (c: number): boolean => isNameStart(c) || isDigit(c) || c === DOLLAR;
const OPERATOR = new Uint8Array(256);
for (const c of '+-*/<>=~!@#%^&|`?') OPERATOR[c.charCodeAt(0)] = 1;

/** Reads all tokens of `bytes`. Comments and blanks are none. An unterminated token ends with the text. */
export function lex(bytes: Uint8Array): Tokens {
  const tokens = tokenList();
  const { push } = tokens;
  const at = (i: number): number => bytes[i] ?? 0;
  const n = bytes.length;
  let i = 0;
  while (i < n) {
    const c = at(i);
    if (isBlank(c)) {
      i++;
    } else if (c === MINUS && at(i + 1) === MINUS) {
      while (i < n && at(i) !== NL && at(i) !== CR) i++;
    } else if (c === SLASH && at(i + 1) === STAR) {
      i = skipComment(bytes, i);
    } else if (c === QUOTE1) {
      const end = skipString(bytes, i, false);
      push(Tok.String, i, end);
      i = end;
    } else if (c === QUOTE2) {
      const end = skipQuotedName(bytes, i);
      push(Tok.QuotedName, i, end);
      i = end;
    } else if (isNameStart(c)) {
      const next = at(i + 1);
      if (next === QUOTE1 && 'eEbBxXnN'.includes(String.fromCharCode(c))) {
        const end = skipString(bytes, i + 1, c === 69 || c === 101);
        push(Tok.String, i, end);
        i = end;
      } else if ((c === 117 || c === 85) && next === 38 && (at(i + 2) === QUOTE1 || at(i + 2) === QUOTE2)) {
        const isName = at(i + 2) === QUOTE2;
        const end = isName ? skipQuotedName(bytes, i + 2) : skipString(bytes, i + 2, false);
        push(isName ? Tok.QuotedName : Tok.String, i, end);
        i = end;
      } else {
        const start = i;
        while (i < n && isNamePart(at(i))) i++;
        push(Tok.Word, start, i);
      }
    } else if (isDigit(c) || (c === DOT && isDigit(at(i + 1)))) {
      const start = i;
      while (
        i < n &&
        (isNamePart(at(i)) ||
          (at(i) === DOT && at(i + 1) !== DOT) ||
          ((at(i) === 43 || at(i) === MINUS) && (at(i - 1) | 32) === 101 && isDigit(at(i + 1))))
      )
        i++;
      push(Tok.Number, start, i);
    } else if (c === DOLLAR) {
      const end = skipDollar(bytes, i);
      push(end === i + 1 ? Tok.Punctuation : isDigit(at(i + 1)) ? Tok.Word : Tok.Dollar, i, end);
      i = end;
    } else if (OPERATOR[c] === 1) {
      const start = i;
      while (i < n && OPERATOR[at(i)] === 1) {
        if (i > start && ((at(i) === MINUS && at(i + 1) === MINUS) || (at(i) === SLASH && at(i + 1) === STAR))) break;
        i++;
      }
      push(Tok.Operator, start, i);
    } else if (c === 58 && (at(i + 1) === 58 || at(i + 1) === 61)) {
      push(Tok.Operator, i, i + 2);
      i += 2;
    } else {
      push(Tok.Punctuation, i, i + 1);
      i++;
    }
  }
  return tokens.read();
}

/** Grows by doubling: a text may have as many tokens as bytes. */
function tokenList(): { readonly push: (kind: Tok, start: number, end: number) => void; readonly read: () => Tokens } {
  let capacity = 1024;
  let kinds = new Uint8Array(capacity);
  let starts = new Uint32Array(capacity);
  let ends = new Uint32Array(capacity);
  let count = 0;
  const push = (kind: Tok, start: number, end: number): void => {
    if (count === capacity) {
      capacity *= 2;
      const k = new Uint8Array(capacity);
      k.set(kinds);
      kinds = k;
      const s = new Uint32Array(capacity);
      s.set(starts);
      starts = s;
      const e = new Uint32Array(capacity);
      e.set(ends);
      ends = e;
    }
    kinds[count] = kind;
    starts[count] = start;
    ends[count++] = end;
  };
  const read = (): Tokens => ({
    count,
    kinds: kinds.subarray(0, count),
    starts: starts.subarray(0, count),
    ends: ends.subarray(0, count),
  });
  return { push, read };
}

function skipComment(bytes: Uint8Array, start: number): number {
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
    else if (c === QUOTE1) {
      if (bytes[i + 1] !== QUOTE1) return i + 1;
      i += 2;
    } else i++;
  }
  return bytes.length;
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

/** A dollar-quoted string, a parameter (`$1`), or the lone sign. */
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
    // A failed match may share its last sign with the next tag.
    from = close + 1;
  }
}

/** Index of the first token that starts at or after `offset`; `tokens.count` where there is none. */
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

/** The token's text in lower case when it is an unquoted word of ASCII letters, else ''. */
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

/** The one character of a punctuation token, else ''. */
export function punctuationOf(bytes: Uint8Array, tokens: Tokens, index: number): string {
  return tokens.kinds[index] === Tok.Punctuation
    ? String.fromCharCode(bytes[tokens.starts[index] as number] as number)
    : '';
}
