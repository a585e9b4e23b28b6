import type { DiffRenderer } from '../../policy/contracts/source-tool';
import { plainBorders, splitLines } from '../../policy/text/render/source-lines';

/** Renders SQL unchanged. The document may be split before a line that follows the end of a statement. */
export const sqlRenderer: DiffRenderer = {
  name: 'sql',
  revision: 1,
  language: 'sql',
  render: (text) => {
    const lines = splitLines(text);
    return lines === null ? null : { lines, borders: () => plainBorders(statementStarts(text)) };
  },
};

const FEED = 0x0a;
const SEMICOLON = 0x3b;
const APOSTROPHE = 0x27;
const QUOTE = 0x22;
const DASH = 0x2d;
const SLASH = 0x2f;
const STAR = 0x2a;
const DOLLAR = 0x24;
const BACKSLASH = 0x5c;

/** Code units that may start a quoted part or comment, or end a line or a statement. */
const MARKS = new Uint8Array(128);
for (const unit of [FEED, SEMICOLON, APOSTROPHE, QUOTE, DASH, SLASH, DOLLAR]) MARKS[unit] = 1;

/** Indexes of lines at which a statement can start. Skips quotes, dollar quotes and comments; an unterminated one extends to the end of the text. */
function statementStarts(text: string): Set<number> {
  const starts = new Set([0]);
  let line = 0;
  let ended = false;
  let i = 0;
  while (i < text.length) {
    const unit = text.charCodeAt(i);
    if (unit > 127 || MARKS[unit] === 0) {
      if (ended && !isBlank(unit)) ended = false;
      i++;
      continue;
    }
    if (unit === FEED) {
      line++;
      if (ended && i + 1 < text.length) starts.add(line);
      ended = false;
      i++;
      continue;
    }
    if (unit === SEMICOLON) {
      ended = true;
      i++;
      continue;
    }
    const end = skipQuoted(text, i, unit);
    if (end === i) {
      if (!isBlank(unit)) ended = false;
      i++;
      continue;
    }
    if (!(unit === DASH || unit === SLASH)) ended = false;
    // Not with indexOf, which would search past `end` to the next line feed each time (quadratic).
    for (let j = i; j < end; j++) if (text.charCodeAt(j) === FEED) line++;
    // A line comment ends before its line feed, which the loop above then counts.
    i = end;
  }
  return starts;
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0d;
}

/** Index after the quoted part or comment that starts at `i`, or `i` if none starts there. */
function skipQuoted(text: string, i: number, unit: number): number {
  switch (unit) {
    case APOSTROPHE:
      return afterQuote(text, i, unit, isEscapeString(text, i));
    case QUOTE:
      return afterQuote(text, i, unit, false);
    case DASH:
      return text.charCodeAt(i + 1) === DASH ? orEnd(text, text.indexOf('\n', i)) : i;
    case SLASH:
      return text.charCodeAt(i + 1) === STAR ? afterComment(text, i) : i;
    case DOLLAR: {
      const tag = dollarTag(text, i);
      if (tag === null) return i;
      const end = text.indexOf(tag, i + tag.length);
      return end === -1 ? text.length : end + tag.length;
    }
    default:
      return i;
  }
}

function orEnd(text: string, index: number): number {
  return index === -1 ? text.length : index;
}

function isEscapeString(text: string, quote: number): boolean {
  const before = text[quote - 1];
  return (before === 'E' || before === 'e') && !isWord(text.charCodeAt(quote - 2));
}

function afterQuote(text: string, start: number, quote: number, escapes: boolean): number {
  for (let i = start + 1; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (escapes && unit === BACKSLASH) i++;
    else if (unit === quote) {
      if (text.charCodeAt(i + 1) !== quote) return i + 1;
      i++;
    }
  }
  return text.length;
}

/** Block comments nest in PostgreSQL. */
function afterComment(text: string, start: number): number {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === SLASH && text.charCodeAt(i + 1) === STAR) {
      depth++;
      i++;
    } else if (unit === STAR && text.charCodeAt(i + 1) === SLASH) {
      depth--;
      i++;
      if (depth === 0) return i + 1;
    }
  }
  return text.length;
}

const MAX_TAG = 64;

function dollarTag(text: string, start: number): string | null {
  if (isWord(text.charCodeAt(start - 1))) return null;
  for (let i = start + 1; i < text.length && i - start <= MAX_TAG; i++) {
    if (text[i] === '$') return text.slice(start, i + 1);
    if (!isWord(text.charCodeAt(i)) || (i === start + 1 && isDigit(text.charCodeAt(i)))) return null;
  }
  return null;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isWord(code: number): boolean {
  return (
    isDigit(code) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f || code > 0x7f
  );
}
