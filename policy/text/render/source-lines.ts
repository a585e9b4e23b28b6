/** One line as the judge sees it, and where it stands in the staged bytes. Lines and columns count from 1, columns in UTF-16 units. */
export interface SourceLine {
  readonly text: string;
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** A line at which a diff over the byte budget may be split: a statement, hunk, file or member begins here. */
export interface Border {
  readonly line: number;
  /** Lines repeated at the head of a piece that begins here: the file header above a hunk. Ascending. */
  readonly context: readonly number[];
}

export interface Rendering {
  readonly lines: readonly SourceLine[];
  /** Ascending; the first line is always one. Asked only where a diff must be split. */
  readonly borders: () => readonly Border[];
}

/**
 * How one source tool's decoded text becomes lines: made from the bytes, never from the agent's own words. Total: what
 * does not parse is rendered as text; null only past MAX_RENDERED_LINES. `revision` is raised whenever the same text would render otherwise.
 */
export interface DiffRenderer {
  readonly name: string;
  readonly revision: number;
  readonly render: (text: string) => Rendering | null;
}

/** More than any plan lets the judge see, each line having a mark. */
export const MAX_RENDERED_LINES = 30_000;

/** Null past MAX_RENDERED_LINES. Lines end at LF or CRLF only. A lone CR stays in its line and is made visible later: it hides text on terminals. */
export function splitLines(text: string): SourceLine[] | null {
  const lines: SourceLine[] = [];
  let start = 0;
  for (;;) {
    const feed = text.indexOf('\n', start);
    const end = feed === -1 ? text.length : feed > start && text[feed - 1] === '\r' ? feed - 1 : feed;
    // A text that ends in a line feed has no empty line after it.
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
