import type { Span } from '../../../policy/contracts/facts';
import { decodeUtf8 } from '../../../policy/text/utf8';

/**
 * A patch as lines of bytes, one character per byte (latin1), because git counts bytes. Text for people and rules is decoded
 * from them. Line numbers start at 1.
 */
export interface Source {
  readonly lines: readonly string[];
  /** Byte offset of each line, plus the offset of the end. */
  readonly offsets: readonly number[];
  /** False if the last line has no line feed; git then does not treat it as a line of the patch. */
  readonly endsWithNewline: boolean;
}

export function sourceOf(raw: Uint8Array): Source {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('latin1');
  const lines = text.split('\n');
  const endsWithNewline = lines.at(-1) === '';
  if (endsWithNewline) lines.pop();
  const offsets: number[] = [0];
  let at = 0;
  for (const line of lines) offsets.push((at += line.length + 1));
  return { lines, offsets, endsWithNewline };
}

/** Whether line `index` ends in a line feed. */
export function isComplete(source: Source, index: number): boolean {
  return source.endsWithNewline || index < source.lines.length - 1;
}

interface Decoded {
  readonly text: string;
  readonly utf8: boolean;
}

/** Decodes a line of bytes; invalid UTF-8 becomes U+FFFD. */
export function decode(bytes: string): Decoded {
  if (isAscii(bytes)) return { text: bytes, utf8: true };
  const buffer = Buffer.from(bytes, 'latin1');
  const text = decodeUtf8(buffer);
  return text === null ? { text: buffer.toString('utf8'), utf8: false } : { text, utf8: true };
}

function isAscii(bytes: string): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes.charCodeAt(i) > 0x7f) return false;
  return true;
}

/** The span of lines `first` to `last`, which are indices starting at 0. */
export function spanOf(source: Source, first: number, last = first): Span {
  const end = Math.min(last, source.lines.length - 1);
  return {
    startLine: first + 1,
    startColumn: 1,
    endLine: end + 1,
    endColumn: decode(source.lines[end] ?? '').text.length + 1,
  };
}
