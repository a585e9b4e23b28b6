import type { Border, SourceLine } from '../../contracts/source-tool';

/** Above the limit of any plan on what the judge sees. */
export const MAX_RENDERED_LINES = 30_000;

/**
 * Null above MAX_RENDERED_LINES. Lines end with LF or CRLF. A lone CR, which hides text on terminals, stays in the line and is made
 * visible later.
 */
export function splitLines(text: string): SourceLine[] | null {
  const lines: SourceLine[] = [];
  let start = 0;
  for (;;) {
    const feed = text.indexOf('\n', start);
    const end = feed === -1 ? text.length : feed > start && text[feed - 1] === '\r' ? feed - 1 : feed;
    // No empty line after a final line feed.
    if (feed === -1 && start === text.length && lines.length > 0) return lines;
    if (lines.length === MAX_RENDERED_LINES) return null;
    const number = lines.length + 1;
    lines.push({
      text: text.slice(start, end),
      startLine: number,
      startColumn: 1,
      endLine: number,
      endColumn: end - start + 1,
    });
    if (feed === -1) return lines;
    start = feed + 1;
  }
}

export function plainBorders(lines: Iterable<number>): Border[] {
  return [...lines].map((line) => ({ line, context: [] }));
}
