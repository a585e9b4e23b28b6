import { closingQuote } from '../policy/text/json-string';

/**
 * Breaks JSON into lines with every token unchanged. Parsing and serializing again would hide duplicate keys and change
 * numbers and escapes. Text that is not JSON keeps all its characters, with line breaks in arbitrary places.
 */
export function reindent(json: string): string {
  let out = '';
  let depth = 0;
  for (let i = 0; i < json.length; i++) {
    const char = json.charAt(i);
    if (char === '"') {
      const close = closingQuote(json, i + 1);
      const end = close === -1 ? json.length : close + 1;
      out += json.slice(i, end);
      i = end - 1;
      continue;
    }
    if (char === '}' || char === ']') out += newline((depth = Math.max(0, depth - 1)));
    out += char;
    if (char === '{' || char === '[') {
      const close = char === '{' ? '}' : ']';
      if (json.charAt(i + 1) === close) out += json.charAt(++i);
      else out += newline(++depth);
    } else if (char === ',') out += newline(depth);
  }
  return out;
}

function newline(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, 40))}`;
}
