import type { ExtractedFacts, Span } from '../../../policy/contracts/facts';

/** One line of a hunk. `text` is without its marker and line end; a CR before the line end is kept. */
export interface PatchLine {
  readonly kind: '+' | '-' | ' ';
  readonly text: string;
  /** Line of the staged bytes, from 1; the text begins at column 2. */
  readonly line: number;
}

export interface PatchHunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** Line of the staged bytes with `@@`. */
  readonly line: number;
  readonly lines: readonly PatchLine[];
}

/** A file's content as a blob: git's base85 form, or only the words that two blobs differ. */
export interface BinaryContent {
  readonly method: 'literal' | 'delta' | 'differs';
  /** Size of the new content in bytes; 0 where it is not in the patch. */
  readonly bytes: number;
  /** The new content as text, where it is a literal that is UTF-8 without NUL: then it is text that hides as binary. */
  readonly text: string | null;
}

export interface PatchFile {
  readonly change: 'add' | 'delete' | 'modify' | 'rename' | 'copy';
  /** Names without their a/ and b/, decoded; null where the file is not on that side. */
  readonly oldPath: string | null;
  readonly newPath: string | null;
  /** The name after the change, or before it where it is deleted. */
  readonly path: string;
  /** Six octal digits as git writes them; null where the patch does not say. */
  readonly oldMode: string | null;
  readonly newMode: string | null;
  readonly similarity: number | null;
  readonly binary: BinaryContent | null;
  readonly hunks: readonly PatchHunk[];
  readonly added: number;
  readonly removed: number;
  /** From the first line of its header to its last one. */
  readonly span: Span;
  readonly header: Span;
}

/** What the extractor of `GitPatch` reads, in the order of the patch. */
export interface GitPatchFacts extends ExtractedFacts {
  readonly kind: 'git-patch';
  readonly files: readonly PatchFile[];
  /** Lines outside every file that look as if they were part of one: appliers disagree on what to do with them. */
  readonly stray: readonly { readonly line: number; readonly what: string }[];
  /** Lines whose bytes are no UTF-8; their text is shown with U+FFFD. */
  readonly notUtf8: readonly number[];
  readonly bytes: number;
  readonly touched: readonly { readonly kind: 'path'; readonly schema: null; readonly name: string }[];
}

/** Mode of a symbolic link, and of a submodule's commit. */
export const SYMLINK = '120000';
export const GITLINK = '160000';

/** A line's span, with its marker. Of a line in a binary patch only the file's header can be shown. */
export function lineSpan(file: PatchFile, line: PatchLine): Span {
  if (line.line === file.header.startLine) return file.header;
  return { startLine: line.line, startColumn: 1, endLine: line.line, endColumn: line.text.length + 2 };
}

/** All lines of one kind, over all hunks; added ones also of text that hides in a binary patch, at the file's header. */
export function linesOf(file: PatchFile, kind: PatchLine['kind']): PatchLine[] {
  const lines: PatchLine[] = [];
  for (const hunk of file.hunks) for (const line of hunk.lines) if (line.kind === kind) lines.push(line);
  if (kind === '+' && file.binary?.text != null)
    for (const text of file.binary.text.split('\n')) lines.push({ kind, text, line: file.header.startLine });
  return lines;
}

/** The file's old and new names, each once. */
export function pathsOf(file: PatchFile): string[] {
  return [...new Set([file.oldPath, file.newPath].flatMap((path) => path ?? []))];
}
