import { codePointName, isOrdinary, within, type CodePointRanges } from './code-points';

/** Raise it whenever the output changes for any input. Part of `logic_hash`. */
export const VISIBLE_REVISION = 2;

/**
 * Characters that are invisible, or that this rendering uses as marks, as inclusive ranges. The table is explicit instead of
 * using the engine's Unicode data, which differs between versions of Node.
 */
const INVISIBLE: CodePointRanges = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0xa0],
  [0xad, 0xad],
  [0x034f, 0x034f],
  [0x0600, 0x0605],
  [0x061c, 0x061c],
  [0x06dd, 0x06dd],
  [0x070f, 0x070f],
  [0x0890, 0x0891],
  [0x08e2, 0x08e2],
  [0x115f, 0x1160],
  [0x1680, 0x1680],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  // The marks of this rendering, so that the diff cannot contain a forged mark.
  [0x27e6, 0x27e7],
  [0x2800, 0x2800],
  [0x3000, 0x3000],
  [0x3164, 0x3164],
  [0xd800, 0xf8ff],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xffff],
  [0x110bd, 0x110bd],
  [0x110cd, 0x110cd],
  [0x13430, 0x1345f],
  [0x16fe4, 0x16fe4],
  [0x1bca0, 0x1bca3],
  [0x1d159, 0x1d159],
  [0x1d173, 0x1d17a],
  [0xe0000, 0x10ffff],
];

/** Replaces each invisible character with a mark such as `⟦U+200B⟧`. Keeps line feeds and tabs. */
export function makeVisible(text: string): string {
  if (isOrdinary(text)) return text;
  let shown = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x20 && unit < 0x7f) continue;
    if (unit === 0x0a || unit === 0x09) continue;
    const code = text.codePointAt(i) ?? unit;
    const width = code > 0xffff ? 2 : 1;
    if (within(INVISIBLE, code)) {
      shown += `${text.slice(from, i)}\u27e6${codePointName(code)}\u27e7`;
      from = i + width;
    }
    i += width - 1;
  }
  return from === 0 ? text : shown + text.slice(from);
}
