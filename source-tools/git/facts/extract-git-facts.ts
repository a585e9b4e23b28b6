import { MAX_DIFF_BYTES } from '../../../policy/contracts/diff';
import type { FactsRefusal } from '../../../policy/contracts/facts';
import { pathsOf, type GitPatchFacts, type PatchFile } from './git-facts';
import { GIT_PARSER } from './git-parser';
import { readPatch, type RawFile } from './read-patch';
import { decode, sourceOf, spanOf, type Source } from './source';
import { refusal, refuse, Refused } from '../../../policy/text/refusal';

const MAX_PATCH_LINES = 60_000;
/** Maximum length of a file name (PATH_MAX on Linux). */
const MAX_NAME = 4096;

/**
 * Facts of a unified diff as `git diff` writes it, or a refusal. Pure; bounded by bytes, lines, files and hunks; never throws
 * on the contents of the bytes. Refusal codes: empty, too_large, too_many_lines, too_many_files, too_many_hunks,
 * nul_byte, no_patch, too_many_stray_lines, loose_hunk, corrupt_hunk, empty_hunk, unfinished_line, joined_lines, inconsistent_header,
 * no_file_name, invalid_name, name_too_long, invalid_mode, nothing_changed, corrupt_binary.
 */
export function extractGitPatchFacts(raw: Uint8Array): GitPatchFacts | FactsRefusal {
  try {
    return extract(raw);
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

function extract(raw: Uint8Array): GitPatchFacts | FactsRefusal {
  if (raw.length === 0) return refusal('empty', 'The patch is empty', null);
  if (raw.length > MAX_DIFF_BYTES)
    return refusal('too_large', `The patch is larger than ${MAX_DIFF_BYTES} bytes`, null);
  const source = sourceOf(raw);
  if (source.lines.length > MAX_PATCH_LINES)
    return refusal('too_many_lines', `The patch has more than ${MAX_PATCH_LINES} lines`, null);
  const nul = source.lines.findIndex((line) => line.includes('\0'));
  if (nul !== -1) return refusal('nul_byte', 'The patch contains a NUL byte', spanOf(source, nul));
  const { files, stray, notUtf8 } = readPatch(source);
  const anomalies = [...stray];
  const described = files.map((file) => toFile(source, file, anomalies));
  const names = new Set(described.flatMap(pathsOf));
  return {
    ok: true,
    kind: 'git-patch',
    parser: GIT_PARSER,
    files: described,
    stray: anomalies.sort((a, b) => a.line - b.line),
    notUtf8,
    bytes: raw.length,
    touched: [...names].map((name) => ({ kind: 'path', schema: null, name })),
  } satisfies GitPatchFacts;
}

function toFile(source: Source, file: RawFile, anomalies: { line: number; what: string }[]): PatchFile {
  const { header, hunks, binary, last } = file;
  const report = (what: string): number => anomalies.push({ line: header.first + 1, what });
  const name = (bytes: string | null): string | null => {
    if (bytes === null) return null;
    const { text, utf8 } = decode(bytes);
    if (!utf8) refuse('invalid_name', 'The file name is not valid UTF-8', spanOf(source, header.first));
    if (text.length > MAX_NAME) refuse('name_too_long', 'The file name is too long', spanOf(source, header.first));
    return text;
  };
  const isNew = header.isNew !== false;
  const isDelete = !isNew && header.isDelete !== false;
  // A new file has only a new name and a deleted file only an old one, whatever else the header lists.
  const oldPath = isNew ? null : name(header.oldName);
  const newPath = isDelete ? null : name(header.newName);
  const path = newPath ?? oldPath;
  if (path === null) return refuse('no_file_name', 'The file has no name', spanOf(source, header.first));
  if (header.namesDevNull)
    report('/dev/null as a file name, although the header does not mark the file as new or deleted');
  const moved = oldPath !== null && newPath !== null && oldPath !== newPath;
  if (moved && !header.isRename && !header.isCopy) report('two names for a file that is neither renamed nor copied');
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const isRename = header.isRename || moved;
  return {
    change: isNew ? 'add' : isDelete ? 'delete' : header.isCopy ? 'copy' : isRename ? 'rename' : 'modify',
    oldPath,
    newPath,
    path,
    oldMode: octal(isNew ? null : header.oldMode),
    newMode: octal(header.newMode ?? (isDelete ? null : header.oldMode)),
    similarity: header.similarity ?? (header.isRename || header.isCopy ? 0 : null),
    binary,
    hunks,
    added: lines.filter(({ kind }) => kind === '+').length,
    removed: lines.filter(({ kind }) => kind === '-').length,
    span: spanOf(source, header.first, last),
    header: spanOf(source, header.first, header.next - 1),
  };
}

function octal(mode: number | null): string | null {
  return mode === null ? null : mode.toString(8).padStart(6, '0');
}
