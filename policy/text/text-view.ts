import type { Span } from '../contracts/facts';
import { closingQuote } from './json-string';

/**
 * Decoded variants of a text that patterns are tried on, each mapped back to positions of the staged text. All scans are
 * linear. Nothing is parsed, so text cannot be hidden from a pattern by a syntax error or a duplicate key.
 */
export interface TextView {
  readonly text: string;
  /** Maps a position in `text` to a position in the staged text. */
  readonly toStaged: (index: number) => number;
}

/** Lossy UTF-8: invalid bytes become U+FFFD, and the ASCII text between them is kept. */
export function decodeLossy(raw: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(raw);
}

/** The text itself. */
export function asStaged(text: string): TextView {
  return { text, toStaged: (index) => index };
}

/** Builds a text from pieces and records the source position of each piece. */
export class ViewBuilder {
  readonly #parts: string[] = [];
  readonly #at: number[] = [];
  readonly #from: number[] = [];
  #length = 0;

  constructor(readonly source: TextView) {}

  push(part: string, from: number): void {
    if (part === '') return;
    this.#parts.push(part);
    this.#at.push(this.#length);
    this.#from.push(from);
    this.#length += part.length;
  }

  build(): TextView {
    const [at, from] = [this.#at, this.#from];
    const toSource = (index: number): number => {
      const piece = lastAtMost(at, index);
      return (from[piece] ?? 0) + index - (at[piece] ?? 0);
    };
    return {
      text: this.#parts.join(''),
      toStaged: (index) => this.source.toStaged(Math.min(toSource(index), this.source.text.length)),
    };
  }
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  '"': '"',
  '\\': '\\',
  '/': '/',
};

/** Decodes JSON escapes, inside strings and outside; null if there are none. */
export function withoutJsonEscapes(source: TextView): TextView | null {
  const { text } = source;
  if (!text.includes('\\')) return null;
  const view = new ViewBuilder(source);
  let start = 0;
  for (let i = text.indexOf('\\'); i !== -1; i = text.indexOf('\\', i)) {
    const decoded = decodeEscape(text, i);
    if (decoded === null) {
      i += 1;
      continue;
    }
    view.push(text.slice(start, i), start);
    view.push(decoded.text, i);
    i += decoded.length;
    start = i;
  }
  if (start === 0) return null;
  view.push(text.slice(start), start);
  return view.build();
}

function decodeEscape(text: string, at: number): { readonly text: string; readonly length: number } | null {
  const kind = text[at + 1];
  if (kind === undefined) return null;
  if (kind !== 'u') {
    const simple = SIMPLE_ESCAPES[kind];
    return simple === undefined ? null : { text: simple, length: 2 };
  }
  const hex = text.slice(at + 2, at + 6);
  if (hex.length < 4 || [...hex].some((digit) => !isHex(digit))) return null;
  return { text: String.fromCharCode(Number.parseInt(hex, 16)), length: 6 };
}

function isHex(digit: string): boolean {
  return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f') || (digit >= 'A' && digit <= 'F');
}

/**
 * Replaces each SQL comment with a space; null if there are none. Block comments nest as in PostgreSQL. With `quotes`, text
 * between apostrophes is not treated as a comment. Both variants are tried, because each of them alone can be evaded.
 */
function withoutSqlComments(source: TextView, quotes: boolean): TextView | null {
  const { text } = source;
  if (!text.includes('/*') && !text.includes('--')) return null;
  const view = new ViewBuilder(source);
  let start = 0;
  let i = 0;
  while (i < text.length) {
    const unit = text.charCodeAt(i);
    if (quotes && unit === APOSTROPHE) {
      const close = text.indexOf("'", i + 1);
      i = close === -1 ? i + 1 : close + 1;
      continue;
    }
    const next = unit === SLASH || unit === DASH ? text.charCodeAt(i + 1) : -1;
    const end =
      unit === SLASH && next === STAR ? endOfBlock(text, i) : unit === DASH && next === DASH ? endOfLine(text, i) : -1;
    if (end === -1) {
      i += 1;
      continue;
    }
    view.push(text.slice(start, i), start);
    view.push(' ', i);
    i = end;
    start = end;
  }
  view.push(text.slice(start), start);
  return view.build();
}

function endOfBlock(text: string, at: number): number {
  let depth = 0;
  let i = at;
  while (i < text.length) {
    const unit = text.charCodeAt(i);
    const next = unit === SLASH || unit === STAR ? text.charCodeAt(i + 1) : -1;
    if (unit === SLASH && next === STAR) {
      depth += 1;
      i += 2;
    } else if (unit === STAR && next === SLASH) {
      depth -= 1;
      i += 2;
      if (depth === 0) return i;
    } else i += 1;
  }
  return text.length;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** One variant to try patterns on. `part`: contained in another variant, so it matters only for anchored patterns. */
export interface Reading {
  readonly view: TextView;
  readonly part: boolean;
}

/** Bound on decoding of JSON nested in JSON strings. */
const MAX_NESTING = 4;

/**
 * All variants of a staged text: unchanged; with escapes decoded; each JSON string and key, decoded, and recursively the JSON
 * inside it; and all of these without SQL comments. Comments are removed from each string separately, so that a comment start in
 * one string cannot hide the next string.
 */
export function* readings(staged: string): Generator<Reading> {
  const whole = asStaged(staged);
  yield* bothWays(whole, false);
  let decoded = withoutJsonEscapes(whole);
  for (let depth = 0; decoded !== null && depth < MAX_NESTING; depth++) {
    yield* bothWays(decoded, false);
    decoded = withoutJsonEscapes(decoded);
  }
  const stripped: TextView[] = [];
  const seen = new Set<string>();
  for (const { view, part } of stringsOf(whole, 0)) {
    if (seen.has(view.text)) continue;
    seen.add(view.text);
    yield { view, part };
    for (const without of withoutComments(view)) {
      stripped.push(without);
      yield { view: without, part: true };
    }
  }
  // All of them joined, so that a pattern without anchors is tried only once.
  if (stripped.length > 0) yield { view: joined(stripped), part: false };
}

function* bothWays(view: TextView, part: boolean): Generator<Reading> {
  yield { view, part };
  for (const without of withoutComments(view)) yield { view: without, part };
}

function withoutComments(source: TextView): TextView[] {
  const blunt = withoutSqlComments(source, false);
  if (blunt === null) return [];
  const careful = source.text.includes("'") ? withoutSqlComments(source, true) : null;
  return careful === null ? [blunt] : [blunt, careful];
}

function* stringsOf(source: TextView, depth: number): Generator<Reading> {
  if (depth >= MAX_NESTING) return;
  for (const token of betweenQuotes(source)) {
    const view = withoutJsonEscapes(token) ?? token;
    yield { view, part: true };
    if (view.text.includes('"')) yield* stringsOf(view, depth + 1);
  }
}

/** All text between two quotes, without the quotes: strings, and the text between strings if it could contain a comment. */
function* betweenQuotes(source: TextView): Generator<TextView> {
  const { text } = source;
  const piece = (start: number, end: number): TextView => ({
    text: text.slice(start, end),
    toStaged: (index) => source.toStaged(start + index),
  });
  let inside = false;
  let start = 0;
  while (start <= text.length) {
    const end = closingQuote(text, start);
    const stop = end === -1 ? text.length : end;
    const view = piece(start, stop);
    const worthTrying = inside ? view.text !== '' : view.text.includes('/*') || view.text.includes('--');
    if (worthTrying) yield view;
    if (end === -1) return;
    inside = !inside;
    start = end + 1;
  }
}

/** Joins the texts with line feeds. */
function joined(views: readonly TextView[]): TextView {
  const starts: number[] = [];
  let length = 0;
  for (const { text } of views) {
    starts.push(length);
    length += text.length + 1;
  }
  const toStaged = (index: number): number => {
    const at = lastAtMost(starts, index);
    return views[at]?.toStaged(Math.min(index - (starts[at] ?? 0), views[at].text.length)) ?? 0;
  };
  return { text: views.map(({ text }) => text).join('\n'), toStaged };
}

/** Index of the last of the ascending `numbers` that is at most `limit`; 0 if there is none. */
function lastAtMost(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}

const APOSTROPHE = 0x27;
const STAR = 0x2a;
const DASH = 0x2d;
const SLASH = 0x2f;

/** Maps positions of a text to lines and columns, which start at 1. Lines end with LF. */
export function spanner(text: string): (start: number, end: number) => Span {
  const starts = [0];
  for (let i = text.indexOf('\n'); i !== -1; i = text.indexOf('\n', i + 1)) starts.push(i + 1);
  const place = (index: number): { line: number; column: number } => {
    const line = lastAtMost(starts, index);
    return { line: line + 1, column: index - (starts[line] ?? 0) + 1 };
  };
  return (start, end) => {
    const [from, to] = [place(start), place(Math.max(start, end))];
    return { startLine: from.line, startColumn: from.column, endLine: to.line, endColumn: to.column };
  };
}
