import { within, type CodePointRanges } from './code-points';

const HOSTILE: CodePointRanges = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x061c, 0x061c],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0xfeff, 0xfeff],
];

/**
 * Quotes a name from the diff for a reason or path: in double quotes, with control, bidirectional and invisible characters
 * escaped, so that it cannot change how the text around it is displayed.
 */
export function shown(name: string): string {
  let out = '';
  for (const character of name) {
    const code = character.codePointAt(0) as number;
    out += within(HOSTILE, code) ? `\\u{${code.toString(16)}}` : character === '"' ? '""' : character;
  }
  return `"${out}"`;
}
