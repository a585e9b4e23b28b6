const ESCAPE = /\\(?:\/|u00([2-7][0-9a-f]))/gi;

/** Text of JSON with its needless escapes (`\/`, `\u0061`) replaced, so that a name or URL has one spelling. */
export function withoutEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replaceAll(ESCAPE, (escape, code: string | undefined) => {
    if (code === undefined) return '/';
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return character === '"' || character === '\\' ? escape : character;
  });
}
