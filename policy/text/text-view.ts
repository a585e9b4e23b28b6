import type { Span } from '../contracts/facts';
import { closingQuote } from './json-string';

/**
 * Readings of the same bytes that a pattern is tried on, each mapped back to positions of the text as staged. All scans
 * are linear; nothing is parsed, so no parser's refusal or duplicate key can hide a text from a pattern.
 */
export interface TextView {
  readonly text: string;
  /** Position in the staged text of a position in `text`. */
  readonly toStaged: (index: number) => number;
}

/** UTF-8, lossy: bytes that are no UTF-8 become U+FFFD, and ASCII between them stays readable. */
export function decodeLossy(raw: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(raw);
}

function asStaged(text: string): TextView {
  return { text, toStaged: (index) => index };
}

/** Rebuilds a text piece by piece and remembers where each piece came from. */
class ViewBuilder {
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

/** JSON's escapes decoded wherever they stand, in a string or not; null where there is none. */
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
 * SQL comments as one space each, block comments nested as PostgreSQL nests them; null where there is none.
 * With `quotes`, what stands between two apostrophes is no comment. Both readings are tried: each alone can be led astray.
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

/** One text to try a pattern on. `part`: contained in another reading, so that only an anchored pattern can tell them apart. */
export interface Reading {
  readonly view: TextView;
  readonly part: boolean;
}

/** JSON within JSON within JSON … is decoded this often. */
const MAX_NESTING = 4;

/**
 * Every reading of a staged text: as it stands; with its escapes decoded; each JSON string (and key) in it, decoded, and
 * again what is JSON inside that; and all of these without SQL comments. What lies between two quotes is stripped of
 * comments by itself, so that a mark in one string cannot swallow another.
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
  // One text of all of them: a pattern without anchors need not be tried on each.
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

/** All that stands between two quotes, without them: strings and, where it could hold a comment, what is between strings. */
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

/** The texts one after another, each on a line of its own. */
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

/** Index of the last of the ascending `numbers` that is at most `limit`; 0 where none is. */
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

/** Positions of a text as lines and columns from 1. Lines end with LF. */
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
