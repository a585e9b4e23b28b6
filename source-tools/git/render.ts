import type { Border, DiffRenderer, SourceLine } from '../../policy/contracts/source-tool';
import { splitLines } from '../../policy/text/render/source-lines';

/** Renders a patch unchanged. A piece may start at a file, or at a hunk with the file's header repeated above it. */
export const gitRenderer: DiffRenderer = {
  name: 'git',
  revision: 1,
  language: 'diff',
  render: (text) => {
    const lines = splitLines(text);
    return lines === null ? null : { lines, borders: () => borders(lines) };
  },
};

/** Maximum number of header lines that are repeated. A real extended header is shorter. */
const MAX_HEADER = 12;

function borders(lines: readonly SourceLine[]): Border[] {
  const found: Border[] = [{ line: 0, context: [] }];
  let header: number[] = [];
  let inHeader = true;
  let oldLeft = 0;
  let newLeft = 0;
  lines.forEach(({ text }, line) => {
    // Inside a hunk, rely on the counts of its header: a removed line "-- a" must not be read as a file header "--- a".
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

/** b and d of `@@ -a,b +c,d @@`, each 1 if omitted; null if the line is not a hunk header. */
function hunkCounts(text: string): readonly [number, number] | null {
  const match = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/.exec(text);
  return match === null ? null : [Number(match[1] ?? '1'), Number(match[2] ?? '1')];
}
