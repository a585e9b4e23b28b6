/**
 * JSON over several lines for reading, with every token exactly as it stands: no parse and re-write, which would hide duplicate
 * keys, and change numbers and escapes. One pass. What is no JSON comes out in odd places, and whole.
 */
export function reindent(json: string): string {
  let out = '';
  let depth = 0;
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const char = json.charAt(i);
    if (inString) {
      out += char;
      if (char === '\\') out += json.charAt(++i);
      else if (char === '"') inString = false;
      continue;
    }
    if (char === '"') inString = true;
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
