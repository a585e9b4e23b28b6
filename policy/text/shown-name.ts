import { isInvisible } from './invisible';

/** Printable ASCII without quotes, as in most names: nothing to escape. */
const PLAIN = /^[ !#-~]*$/;

/**
 * Quotes a name from the diff for a reason or path: in double quotes, with control, bidirectional and invisible characters
 * escaped, so that it cannot change how the text around it is displayed.
 */
export function shown(name: string): string {
  if (PLAIN.test(name)) return `"${name}"`;
  let out = '';
  for (const character of name) {
    const code = character.codePointAt(0) as number;
    out += isInvisible(code) ? `\\u{${code.toString(16)}}` : character === '"' ? '""' : character;
  }
  return `"${out}"`;
}
