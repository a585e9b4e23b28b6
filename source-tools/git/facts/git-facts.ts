import type { ExtractedFacts, Span } from '../../../policy/contracts/facts';
import type { FilePlace, FactsMembers } from '../../../policy/contracts/source-tool';
import { memoizeByObject } from '../../../policy/text/memoize';

/** One line of a hunk. `text` excludes the marker and the line feed, but includes a CR before the line feed. */
export interface PatchLine {
  readonly kind: '+' | '-' | ' ';
  readonly text: string;
  /** Line number in the staged bytes, starting at 1; the text starts at column 2. */
  readonly line: number;
}

export interface PatchHunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** Line number of the hunk header (`@@`) in the staged bytes. */
  readonly line: number;
  readonly lines: readonly PatchLine[];
}

/** Binary content of a file: git's base85 form, or only the statement that two blobs differ. */
export interface BinaryContent {
  readonly method: 'literal' | 'delta' | 'differs';
  /** Size of the new content in bytes; 0 if it is not in the patch. */
  readonly bytes: number;
  /** The new content as text if it is a literal of UTF-8 without NUL, that is, text disguised as binary; otherwise null. */
  readonly text: string | null;
}

export interface PatchFile {
  readonly change: 'add' | 'delete' | 'modify' | 'rename' | 'copy';
  /** Decoded names without a/ and b/; null if the file does not exist on that side. */
  readonly oldPath: string | null;
  readonly newPath: string | null;
  /** The name after the change; for a deleted file, the name before it. */
  readonly path: string;
  /** Six octal digits as git writes them; null if the patch does not state the mode. */
  readonly oldMode: string | null;
  readonly newMode: string | null;
  readonly similarity: number | null;
  readonly binary: BinaryContent | null;
  readonly hunks: readonly PatchHunk[];
  readonly added: number;
  readonly removed: number;
  /** From the first line of its header to its last line. */
  readonly span: Span;
  readonly header: Span;
}

/** What the extractor of `GitPatch` reads, in patch order. */
export interface GitPatchFacts extends ExtractedFacts {
  readonly kind: 'git-patch';
  readonly files: readonly PatchFile[];
  /** Lines outside any file section that look like part of a patch; tools that apply patches treat them differently. */
  readonly stray: readonly { readonly line: number; readonly what: string }[];
  /** Numbers of lines that are not valid UTF-8; their text contains U+FFFD. */
  readonly notUtf8: readonly number[];
  readonly bytes: number;
  readonly touched: readonly { readonly kind: 'path'; readonly schema: null; readonly name: string }[];
}

/** The names of its members, which conditions may read. */
export const GIT_FACTS: FactsMembers<GitPatchFacts> = {
  files: true,
  stray: true,
  notUtf8: true,
  bytes: true,
  touched: true,
};

/** Mode of a symbolic link, and of a submodule (a commit of another repository). */
export const SYMLINK = '120000';
export const GITLINK = '160000';

/** Span of a line with its marker. A line of a binary patch has no position, so its span is the file's header. */
export function lineSpan(file: PatchFile, line: PatchLine): Span {
  if (line.line === file.header.startLine) return file.header;
  return { startLine: line.line, startColumn: 1, endLine: line.line, endColumn: line.text.length + 2 };
}

/** The line in the file that a line of the patch adds, keeps or removes. A line of a binary patch has no place in the file. */
export function filePlace(file: PatchFile, line: PatchLine): FilePlace {
  const path = line.kind === '-' ? (file.oldPath ?? file.path) : file.path;
  return { path, line: lineNumbers(file).get(line.line) ?? null };
}

/** Line in the patch → line in the file: on the old side for a removed line, otherwise on the new side. */
const lineNumbers = memoizeByObject(({ hunks }: PatchFile): ReadonlyMap<number, number> => {
  const numbers = new Map<number, number>();
  for (const hunk of hunks) {
    let [before, after] = [hunk.oldStart, hunk.newStart];
    for (const { kind, line } of hunk.lines) {
      numbers.set(line, kind === '-' ? before : after);
      if (kind !== '+') before++;
      if (kind !== '-') after++;
    }
  }
  return numbers;
});

/** All lines of one kind in all hunks. Added lines include text disguised as binary, positioned at the file's header. */
export function linesOf(file: PatchFile, kind: PatchLine['kind']): PatchLine[] {
  const lines: PatchLine[] = [];
  for (const hunk of file.hunks) for (const line of hunk.lines) if (line.kind === kind) lines.push(line);
  if (kind === '+' && file.binary?.text != null)
    for (const text of file.binary.text.split('\n')) lines.push({ kind, text, line: file.header.startLine });
  return lines;
}

/** The file's old and new names, without duplicates. */
export function pathsOf(file: PatchFile): string[] {
  return [...new Set([file.oldPath, file.newPath].flatMap((path) => path ?? []))];
}
