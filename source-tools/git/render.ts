import type { Border, DiffRenderer, SourceLine } from '../../policy/contracts/source-tool';
import { splitLines } from '../../policy/text/render/source-lines';

/** A patch as it stands; a piece may begin at a file or, with the file's header repeated above it, at a hunk. */
export const gitRenderer: DiffRenderer = {
  name: 'git',
  revision: 1,
  language: 'diff',
  render: (text) => {
    const lines = splitLines(text);
    return lines === null ? null : { lines, borders: () => borders(lines) };
  },
};

/** Header lines of one file that are repeated; the extended header is short, so more is a forgery. */
const MAX_HEADER = 12;

function borders(lines: readonly SourceLine[]): Border[] {
  const found: Border[] = [{ line: 0, context: [] }];
  let header: number[] = [];
  let inHeader = true;
  let oldLeft = 0;
  let newLeft = 0;
  lines.forEach(({ text }, line) => {
    // Inside a hunk, by its own counts: a removed line "-- a" must not read as a file header "--- a".
    if (oldLeft > 0 || newLeft > 0) {
      if (text.startsWith('+')) newLeft--;
      else if (text.startsWith('-')) oldLeft--;
      else if (!text.startsWith('\\')) {
        oldLeft--;
        newLeft--;
      }
      return;
    }
    const counts = hunkCounts(text);
    if (counts !== null) {
      if (!inHeader) found.push({ line, context: header });
      inHeader = false;
      [oldLeft, newLeft] = counts;
      return;
    }
    if (text.startsWith('\\')) return;
    if (text.startsWith('diff --git ') || (!inHeader && text.startsWith('--- '))) {
      if (line > 0) found.push({ line, context: [] });
      header = [];
      inHeader = true;
    }
    if (inHeader && header.length < MAX_HEADER) header = [...header, line];
  });
  return found;
}

/** `@@ -a,b +c,d @@`: b and d, 1 where left out. */
function hunkCounts(text: string): readonly [number, number] | null {
  const match = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/.exec(text);
  return match === null ? null : [Number(match[1] ?? '1'), Number(match[2] ?? '1')];
}
