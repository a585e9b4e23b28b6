import type { DiffRenderer, Rendering, SourceLine } from '../../contracts/source-tool';
import { closingQuote } from '../json-string';
import { spanner } from '../text-view';
import { MAX_RENDERED_LINES, plainBorders } from './source-lines';
import { textRenderer } from './text';

/**
 * Renders JSON with one member per line. Works on tokens, without parsing values, so that duplicate keys, the digits of
 * numbers and the order of members are preserved. Escapes of ordinary characters are decoded (`\u0044ROP` becomes `DROP`). Text
 * that is not a sequence of JSON tokens is rendered as plain text.
 */
export const jsonRenderer: DiffRenderer = { name: 'json', revision: 1, language: 'json', render };

const MAX_INDENT = 40;
/** A piece may start at members of the root and of its direct children. */
const BORDER_DEPTH = 2;

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function render(text: string): Rendering | null {
  if (membersAtLeast(text) > MAX_RENDERED_LINES) return null;
  const tokens = tokenize(text);
  if (tokens === null || tokens.length === 0) return textRenderer.render(text);
  const spanOf = spanner(text);
  const lines: SourceLine[] = [];
  const borders: number[] = [];
  let depth = 0;
  let current: Token[] = [];
  let indent = 0;
  const flush = (): void => {
    const first = current[0];
    const last = current.at(-1);
    if (first === undefined || last === undefined) return;
    if (indent <= BORDER_DEPTH && !isClosing(first.text)) borders.push(lines.length);
    lines.push({
      text: ' '.repeat(Math.min(indent, MAX_INDENT) * 2) + joined(current),
      ...spanOf(first.start, last.end),
    });
    current = [];
  };
  tokens.forEach((token, i) => {
    if (isClosing(token.text)) {
      const empty = i > 0 && isOpening(tokens[i - 1]?.text);
      depth = Math.max(0, depth - 1);
      if (!empty) {
        flush();
        indent = depth;
      }
      current.push(token);
      return;
    }
    if (current.length === 0) indent = depth;
    current.push(token);
    if (isOpening(token.text)) {
      depth++;
      if (!isClosing(tokens[i + 1]?.text)) flush();
    } else if (token.text === ',') flush();
  });
  flush();
  if (lines.length > MAX_RENDERED_LINES) return null;
  return { lines, borders: () => plainBorders(new Set([0, ...borders])) };
}

/** Lower bound on the number of lines: opening brackets, opening braces and commas outside strings. Cheap check before tokenizing. */
function membersAtLeast(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      i = closingQuote(text, i + 1);
      if (i === -1) break;
    } else if (code === 0x5c) i++;
    else if (code === 0x5b || code === 0x7b || code === 0x2c) count++;
  }
  return count;
}

function isOpening(text: string | undefined): boolean {
  return text === '{' || text === '[';
}

function isClosing(text: string | undefined): boolean {
  return text === '}' || text === ']';
}

function joined(tokens: readonly Token[]): string {
  return tokens
    .map((token) => (token.text === ':' ? ': ' : token.text.startsWith('"') ? shownString(token.text) : token.text))
    .join('');
}

/** Null if the text contains anything except JSON tokens and white space. */
function tokenize(text: string): Token[] | null {
  const tokens: Token[] = [];
  const word = /[-+.0-9A-Za-z]+/y;
  let i = 0;
  while (i < text.length) {
    const letter = text[i] ?? '';
    if (letter === ' ' || letter === '\n' || letter === '\r' || letter === '\t') {
      i++;
      continue;
    }
    const start = i;
    if ('{}[],:'.includes(letter)) i++;
    else if (letter === '"') {
      const end = closingQuote(text, i + 1, true);
      if (end === -1) return null;
      i = end + 1;
    } else {
      word.lastIndex = i;
      const match = word.exec(text);
      if (match === null) return null;
      i += match[0].length;
    }
    tokens.push({ text: text.slice(start, i), start, end: i });
  }
  return tokens;
}

/** Decodes \uXXXX of ordinary characters, and \/. Quotes, backslashes and control characters stay escaped. */
function shownString(token: string): string {
  if (!token.includes('\\')) return token;
  let shown = '';
  for (let i = 0; i < token.length; i++) {
    if (token[i] !== '\\') {
      shown += token[i];
      continue;
    }
    const letter = token[i + 1];
    const code = letter === 'u' ? Number.parseInt(token.slice(i + 2, i + 6), 16) : Number.NaN;
    if (letter === 'u' && /^[0-9a-fA-F]{4}$/.test(token.slice(i + 2, i + 6)) && isOrdinary(code)) {
      shown += String.fromCharCode(code);
      i += 5;
    } else if (letter === '/') {
      shown += '/';
      i++;
    } else {
      shown += token.slice(i, i + 2);
      i++;
    }
  }
  return shown;
}

function isOrdinary(code: number): boolean {
  return (
    code >= 0x20 &&
    code !== 0x22 &&
    code !== 0x5c &&
    code !== 0x7f &&
    !(code >= 0x80 && code < 0xa0) &&
    !(code >= 0xd800 && code <= 0xdfff)
  );
}
