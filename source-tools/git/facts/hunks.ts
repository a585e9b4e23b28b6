import type { PatchHunk, PatchLine } from './git-facts';
import { refuse } from '../../../policy/text/refusal';
import { decode, isComplete, spanOf, type Source } from './source';

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** Minimum length in bytes, with line feed, of "\ No newline at end of file" in any translation. Git uses the same bound. */
const MIN_NO_NEWLINE = 12;

/** Parses `@@ -a,b +c,d @@`; null if the line is not a hunk header. */
export function hunkHeader(source: Source, index: number): Omit<PatchHunk, 'lines' | 'line'> | null {
  const line = source.lines[index] ?? '';
  if (!line.startsWith('@@ -') || !isComplete(source, index)) return null;
  const match = HUNK.exec(line.slice(0, 200));
  if (match === null) return null;
  const [, oldStart, oldLines, newStart, newLines] = match;
  return {
    oldStart: Number(oldStart),
    oldLines: Number(oldLines ?? '1'),
    newStart: Number(newStart),
    newLines: Number(newLines ?? '1'),
  };
}

interface ReadHunks {
  readonly hunks: readonly PatchHunk[];
  /** Index of the line after the last one. */
  readonly next: number;
  readonly notUtf8: readonly number[];
}

/**
 * Reads the hunks that start at `from`; zero hunks are valid. A hunk must have exactly the lines that its header counts: git
 * would ignore an extra line that other tools read as content, and a missing line would consume the next file's header.
 */
export function readHunks(source: Source, from: number): ReadHunks {
  const hunks: PatchHunk[] = [];
  const notUtf8: number[] = [];
  let at = from;
  while (at < source.lines.length && (source.lines[at] as string).startsWith('@@ -')) {
    const header = hunkHeader(source, at);
    if (header === null) return refuse('corrupt_hunk', 'Invalid hunk header', spanOf(source, at));
    const { lines, next } = readLines(source, at, header, notUtf8);
    hunks.push({ ...header, line: at + 1, lines });
    at = next;
  }
  return { hunks, next: at, notUtf8 };
}

function readLines(
  source: Source,
  headerAt: number,
  header: Pick<PatchHunk, 'oldLines' | 'newLines'>,
  notUtf8: number[],
): { readonly lines: PatchLine[]; readonly next: number } {
  const lines: PatchLine[] = [];
  let oldLeft = header.oldLines;
  let newLeft = header.newLines;
  let changed = false;
  /** Whether the last line of the old and of the new side was marked as one without a line feed. */
  let oldEnded = false;
  let newEnded = false;
  let at = headerAt + 1;
  for (; oldLeft !== 0 || newLeft !== 0; at++) {
    const line = source.lines[at];
    if (line === undefined || oldLeft < 0 || newLeft < 0) return miscounted(source, headerAt);
    if (!isComplete(source, at))
      return refuse('unfinished_line', 'The last line of the patch has no line feed', spanOf(source, at));
    const kind = line[0] ?? ' ';
    if (kind === '\\') {
      if (!isNoNewline(line)) return miscounted(source, headerAt);
      const before = lines.at(-1)?.kind;
      oldEnded ||= before !== '+';
      newEnded ||= before !== '-';
      continue;
    }
    // Git joins such a line with the one after it, so that the file has a line that the patch does not.
    if ((oldEnded && kind !== '+') || (newEnded && kind !== '-'))
      return refuse('joined_lines', 'A line without a line feed is not the last of its side', spanOf(source, at));
    if (kind !== ' ' && kind !== '-' && kind !== '+') return miscounted(source, headerAt);
    if (kind !== '+') oldLeft--;
    if (kind !== '-') newLeft--;
    if (kind !== ' ') changed = true;
    const { text, utf8 } = decode(line.slice(1));
    if (!utf8) notUtf8.push(at + 1);
    lines.push({ kind, text, line: at + 1 });
  }
  if (!changed) return refuse('empty_hunk', 'The hunk changes nothing', spanOf(source, headerAt));
  // The marker for a missing final newline follows the counted lines.
  if (isNoNewline(source.lines[at] ?? '')) at++;
  return { lines, next: at };
}

function isNoNewline(line: string): boolean {
  return line.startsWith('\\ ') && line.length + 1 >= MIN_NO_NEWLINE;
}

function miscounted(source: Source, headerAt: number): never {
  return refuse(
    'corrupt_hunk',
    'The hunk does not have the number of lines that its header states',
    spanOf(source, headerAt),
  );
}
