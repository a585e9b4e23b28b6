import type { Span } from '../../../policy/contracts/facts';
import { lex, tokenAtOrAfter, type Tokens } from './lexer';

const BLOCK = 256;

/**
 * One text to parse: the staged bytes, or SQL found inside a string of another source. Offsets are UTF-8 bytes of this text;
 * spans always refer to the staged bytes.
 */
export interface Source {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly tokens: Tokens;
  readonly span: (start: number, end: number) => Span;
}

/** Source of the staged bytes. `text` is their decoded form. */
export function rootSource(bytes: Uint8Array, text: string): Source {
  let positionOf: Positions | null = null;
  return {
    bytes,
    text,
    tokens: lex(bytes),
    span: (start, end) => {
      positionOf ??= bytes.length === text.length ? asciiPositions(bytes) : utf8Positions(bytes);
      const last = Math.max(start, end);
      const from = positionOf(start);
      const to = positionOf(last);
      return { startLine: from.line, startColumn: from.column, endLine: to.line, endColumn: to.column };
    },
  };
}

/** Source of SQL that appears verbatim in `parent`, starting at byte `base`. */
export function verbatimSource(parent: Source, base: number, text: string): Source {
  const bytes = new TextEncoder().encode(text);
  return { bytes, text, tokens: lex(bytes), span: (start, end) => parent.span(base + start, base + end) };
}

/** Source of SQL that was decoded (escapes, concatenation), so its offsets do not map to the staged bytes. All spans are `enclosing`. */
export function decodedSource(text: string, enclosing: Span): Source {
  const bytes = new TextEncoder().encode(text);
  return { bytes, text, tokens: lex(bytes), span: () => enclosing };
}

/** End offset of the first token that starts at or after `start`, or `start` if there is none. */
export function tokenEnd(source: Source, start: number): number {
  const index = tokenAtOrAfter(source.tokens, start);
  return index < source.tokens.count ? (source.tokens.ends[index] as number) : start;
}

/** For ASCII text, where each byte is one UTF-16 code unit. */
function asciiPositions(bytes: Uint8Array): Positions {
  const lines: number[] = [0];
  for (let feed = bytes.indexOf(10); feed !== -1; feed = bytes.indexOf(10, feed + 1)) lines.push(feed + 1);
  return (offset) => {
    const clamped = Math.min(Math.max(offset, 0), bytes.length);
    const line = lineOf(lines, clamped);
    return { line: line + 1, column: clamped - (lines[line] as number) + 1 };
  };
}

/** Index of the line that contains the offset. */
function lineOf(lines: readonly number[], offset: number): number {
  let low = 0;
  let high = lines.length;
  while (high - low > 1) {
    const mid = (low + high) >>> 1;
    if ((lines[mid] as number) <= offset) low = mid;
    else high = mid;
  }
  return low;
}

type Positions = (offset: number) => { readonly line: number; readonly column: number };

/**
 * Converts offsets to line and column (both from 1; columns in UTF-16 code units). Unit counts are cached per block, so lookups in a
 * long line stay cheap.
 */
function utf8Positions(bytes: Uint8Array): Positions {
  const lines: number[] = [0];
  const blocks = new Uint32Array(Math.floor(bytes.length / BLOCK) + 1);
  let units = 0;
  for (let i = 0; i < bytes.length; i++) {
    if (i % BLOCK === 0) blocks[i / BLOCK] = units;
    const c = bytes[i] as number;
    if (c === 10) lines.push(i + 1);
    units += unitsOf(c);
  }
  if (bytes.length % BLOCK === 0) blocks[bytes.length / BLOCK] = units;
  const unitsBefore = (offset: number): number => {
    const block = Math.floor(offset / BLOCK);
    let total = blocks[block] as number;
    for (let i = block * BLOCK; i < offset; i++) total += unitsOf(bytes[i] as number);
    return total;
  };
  return (offset) => {
    const clamped = Math.min(Math.max(offset, 0), bytes.length);
    const line = lineOf(lines, clamped);
    return { line: line + 1, column: unitsBefore(clamped) - unitsBefore(lines[line] as number) + 1 };
  };
}

/** Number of UTF-16 code units that start at this UTF-8 byte (0, 1 or 2). */
function unitsOf(byte: number): number {
  if (byte >= 0x80 && byte < 0xc0) return 0;
  return byte >= 0xf0 ? 2 : 1;
}
