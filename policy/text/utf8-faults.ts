import type { Span } from '../contracts/facts';

/** Bound on reported faults. */
const MAX_FAULTS = 50;

/** Places of invalid UTF-8 (RFC 3629: overlong forms and surrogates are invalid). Columns count UTF-16 code units; an invalid byte counts as one. */
export function invalidUtf8(raw: Uint8Array): Span[] {
  const faults: Span[] = [];
  if (isAscii(raw)) return faults;
  let line = 1;
  let column = 1;
  let i = 0;
  while (i < raw.length && faults.length < MAX_FAULTS) {
    const byte = raw[i] as number;
    if (byte < 0x80) {
      if (byte === 0x0a) {
        line++;
        column = 1;
      } else column++;
      i++;
      continue;
    }
    const length = sequenceAt(raw, i);
    if (length === 0) {
      faults.push({ startLine: line, startColumn: column, endLine: line, endColumn: column + 1 });
      column++;
      i++;
    } else {
      column += length === 4 ? 2 : 1;
      i += length;
    }
  }
  return faults;
}

function isAscii(raw: Uint8Array): boolean {
  for (let i = 0; i < raw.length; i++) if ((raw[i] as number) >= 0x80) return false;
  return true;
}

/** Length in bytes of the well-formed sequence that starts here; 0 if there is none. */
function sequenceAt(raw: Uint8Array, at: number): number {
  const first = raw[at] as number;
  const second = raw[at + 1] ?? 0;
  if (first >= 0xc2 && first <= 0xdf) return isTail(second) ? 2 : 0;
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  if (first >= 0xe0 && first <= 0xef) return isTail(raw[at + 2]) ? 3 : 0;
  if (first >= 0xf0 && first <= 0xf4) return isTail(raw[at + 2]) && isTail(raw[at + 3]) ? 4 : 0;
  return 0;
}

function isTail(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte <= 0xbf;
}
