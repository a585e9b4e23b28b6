import type { Span } from '../../../policy/contracts/facts';
import type { DiffText, FilePlace } from '../../../policy/contracts/source-tool';
import { spanner } from '../../../policy/text/text-view';
import { filePlace, linesOf, lineSpan, type GitPatchFacts, type PatchFile, type PatchLine } from './git-facts';

/** The added and the removed lines of each file. Lines that are not valid UTF-8 are left out: `git_unreadable` reports them. */
export function patchTexts({ files, notUtf8 }: GitPatchFacts): DiffText[] {
  const unreadable = new Set(notUtf8);
  const readable = (file: PatchFile, kind: '+' | '-'): readonly PatchLine[] =>
    linesOf(file, kind).filter(({ line }) => !unreadable.has(line));
  return files.flatMap((file) => [
    ...linesText(file, readable(file, '+'), 'added'),
    ...linesText(file, readable(file, '-'), 'removed'),
  ]);
}

function linesText(file: PatchFile, lines: readonly PatchLine[], side: DiffText['side']): DiffText[] {
  if (lines.length === 0) return [];
  const text = lines.map((line) => line.text).join('\n');
  const inText = spanner(text);
  const spanOf = (start: number, end: number): Span => {
    const { startLine, startColumn, endLine, endColumn } = inText(start, end);
    const [first, last] = [lines[startLine - 1], lines[endLine - 1]];
    if (first === undefined || last === undefined) return file.header;
    const span = lineSpan(file, first);
    // Text inside a binary patch has no position in the patch.
    if (span === file.header) return span;
    return { startLine: first.line, startColumn: startColumn + 1, endLine: last.line, endColumn: endColumn + 1 };
  };
  const fileOf = (start: number): FilePlace => {
    const line = lines[inText(start, start).startLine - 1];
    return line === undefined ? { path: file.path, line: null } : filePlace(file, line);
  };
  return [{ side, text, spanOf, fileOf }];
}
