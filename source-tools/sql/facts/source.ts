import type { Span } from '../../../policy/contracts/facts';
import { lex, tokenAtOrAfter, type Tokens } from './lexer';

const BLOCK = 256;

/**
 * One text that the parser reads: the staged bytes, or SQL that stood inside a string of another source. Offsets are
 * UTF-8 bytes of this text; spans are always of the staged bytes.
 */
export interface Source {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly tokens: Tokens;
  readonly span: (start: number, end: number) => Span;
}

/** The staged bytes themselves. `text` is their decoding. */
export function rootSource(bytes: Uint8Array, text: string): Source {
  let places: Positions | null = null;
  return {
    bytes,
    text,
    tokens: lex(bytes),
    span: (start, end) => {
      places ??= bytes.length === text.length ? asciiPositions(bytes) : positions(bytes);
      const last = Math.max(start, end);
      const from = places(start);
      const to = places(last);
      return { startLine: from.line, startColumn: from.column, endLine: to.line, endColumn: to.column };
    },
  };
}

/** SQL that stands word for word in `parent` from `base` on. */
export function verbatimSource(parent: Source, base: number, text: string): Source {
  const bytes = new TextEncoder().encode(text);
  return { bytes, text, tokens: lex(bytes), span: (start, end) => parent.span(base + start, base + end) };
}

/** SQL whose characters do not map one to one onto the staged bytes (escapes, concatenation): its place is `whole`. */
export function decodedSource(text: string, whole: Span): Source {
  const bytes = new TextEncoder().encode(text);
  return { bytes, text, tokens: lex(bytes), span: () => whole };
}

/** End of the token that starts at or after `start`; `start` where there is none. */
export function tokenEnd(source: Source, start: number): number {
  const index = tokenAtOrAfter(source.tokens, start);
  return index < source.tokens.count ? (source.tokens.ends[index] as number) : start;
}

/** Of text without a character beyond ASCII: as many UTF-16 units as bytes. */
function asciiPositions(bytes: Uint8Array): Positions {
  const lines: number[] = [0];
  for (let feed = bytes.indexOf(10); feed !== -1; feed = bytes.indexOf(10, feed + 1)) lines.push(feed + 1);
  return (offset) => {
    const clamped = Math.min(Math.max(offset, 0), bytes.length);
    const line = lineOf(lines, clamped);
    return { line: line + 1, column: clamped - (lines[line] as number) + 1 };
  };
}

/** Index of the line that the offset is in. */
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

/** Offset to line and column, both from 1; a column counts UTF-16 units. Columns are kept per block, so one long line costs no more. */
function positions(bytes: Uint8Array): Positions {
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

/** UTF-16 units that a UTF-8 byte opens: none for a continuation byte, two for the lead of an astral character. */
function unitsOf(byte: number): number {
  if (byte >= 0x80 && byte < 0xc0) return 0;
  return byte >= 0xf0 ? 2 : 1;
}
