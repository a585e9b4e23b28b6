/**
 * Quotes a name from the diff for a reason or path: in double quotes, with control, bidirectional and invisible characters
 * escaped, so that it cannot change how the text around it is displayed.
 */
export function shown(name: string): string {
  let out = '';
  for (const character of name) {
    const code = character.codePointAt(0) as number;
    out += isHostile(code) ? `\\u{${code.toString(16)}}` : character === '"' ? '""' : character;
  }
  return `"${out}"`;
}

function isHostile(code: number): boolean {
  return (
    code < 32 ||
    (code >= 0x7f && code < 0xa0) ||
    code === 0xad ||
    code === 0x61c ||
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    code === 0xfeff
  );
}
