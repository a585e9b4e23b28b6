/**
 * Reads a patch like `git apply`, but more strictly: reports lines that git ignores and that other tools may apply.
 *
 * R1 A hunk has exactly the lines that its header counts. A hunk without a file header is refused.
 * R2 Each file is found at the same place and under the same name as in git.
 * R3 Ambiguous input is refused; nothing is guessed.
 */
import type { BinaryContent, PatchHunk } from './git-facts';
import { refuse } from '../../../policy/text/refusal';
import { MAX_BINARY_BYTES, readBinary } from './binary';
import { readGitHeader, readPlainHeader, type Header } from './header';
import { hunkHeader, readHunks } from './hunks';
import type { Strip } from './names';
import { isComplete, spanOf, type Source } from './source';

const MAX_FILES = 3000;
const MAX_HUNKS = 20_000;
/** Maximum number of lines outside any file section that look like part of a patch. */
const MAX_STRAY = 1000;
/** Maximum length of a header line in bytes: enough for two quoted paths of maximum length. */
const MAX_HEADER_LINE = 40_000;

export interface RawFile {
  readonly header: Header;
  readonly hunks: readonly PatchHunk[];
  readonly binary: BinaryContent | null;
  /** Index of its last line. */
  readonly last: number;
}

interface RawPatch {
  readonly files: readonly RawFile[];
  readonly stray: readonly { readonly line: number; readonly what: string }[];
  readonly notUtf8: readonly number[];
}

export function readPatch(source: Source): RawPatch {
  const files: RawFile[] = [];
  const stray: { line: number; what: string }[] = [];
  const notUtf8: number[] = [];
  let strip: Strip = 1;
  let stripKnown = false;
  let hunks = 0;
  let binaryLeft = MAX_BINARY_BYTES;
  /** Set after a hunk until a line that cannot be a hunk line. */
  let afterHunk = false;
  let at = 0;
  while (at < source.lines.length) {
    const line = source.lines[at] as string;
    const isGitHeader = line.startsWith('diff --git ');
    let header: Header | null = null;
    if (hunkHeader(source, at) !== null) refuse('loose_hunk', 'The hunk has no file header', spanOf(source, at));
    if ((isGitHeader || line.startsWith('--- ')) && line.length > MAX_HEADER_LINE)
      refuse('name_too_long', 'The file name is too long', spanOf(source, at));
    if (isGitHeader) {
      header = readGitHeader(source, at, strip);
      // Git would continue and use the names of this header for the next file.
      if (header === null) refuse('nothing_changed', 'The file header is not followed by a change', spanOf(source, at));
    } else {
      const plain = readPlainHeader(source, at, strip, stripKnown);
      if (plain !== null) ({ header, strip, stripKnown } = plain);
    }
    if (header === null) {
      afterHunk = afterHunk && /^[-+ ]/.test(line) && line !== '-- ' && line !== '--';
      const what = afterHunk ? 'a line that its hunk does not count' : looksLikePatch(line);
      if (what !== null) stray.push({ line: at + 1, what });
      if (stray.length > MAX_STRAY)
        refuse('too_many_stray_lines', `More than ${MAX_STRAY} lines are outside any file section`, spanOf(source, at));
      at++;
      continue;
    }
    const body = readBody(source, header, binaryLeft);
    files.push(body.file);
    notUtf8.push(...body.notUtf8);
    binaryLeft = body.binaryLeft;
    hunks += body.file.hunks.length;
    if (files.length > MAX_FILES) refuse('too_many_files', `The patch changes more than ${MAX_FILES} files`, null);
    if (hunks > MAX_HUNKS) refuse('too_many_hunks', `The patch has more than ${MAX_HUNKS} hunks`, null);
    afterHunk = body.file.hunks.length > 0;
    at = body.next;
  }
  if (files.length === 0) refuse('no_patch', 'The text contains no file change', null);
  return { files, stray, notUtf8 };
}

interface Body {
  readonly file: RawFile;
  readonly next: number;
  readonly notUtf8: readonly number[];
  readonly binaryLeft: number;
}

function readBody(source: Source, header: Header, binaryLeft: number): Body {
  const { hunks, next, notUtf8 } = readHunks(source, header.next);
  const oldLines = hunks.reduce((sum, hunk) => sum + hunk.oldLines, 0);
  const newLines = hunks.reduce((sum, hunk) => sum + hunk.newLines, 0);
  // A plain header may not state whether the file is new or deleted. Like git, assume so only if a single hunk could be the
  // whole file.
  if (header.isNew === null && (oldLines > 0 || hunks.length > 1)) header.isNew = false;
  if (header.isDelete === null && (newLines > 0 || hunks.length > 1)) header.isDelete = false;
  const span = spanOf(source, header.first, Math.max(header.first, header.next - 1));
  if (header.isNew === true && oldLines > 0)
    refuse('inconsistent_header', 'The new file has removed or context lines', span);
  if (header.isDelete === true && newLines > 0)
    refuse('inconsistent_header', 'The deleted file has added or context lines', span);
  const file = (binary: BinaryContent | null, last: number): RawFile => ({ header, hunks, binary, last });
  if (hunks.length > 0) return { file: file(null, next - 1), next, notUtf8, binaryLeft };
  const line = source.lines[next] ?? '';
  if (line === 'GIT binary patch' && isComplete(source, next)) {
    const read = readBinary(source, next + 1, binaryLeft);
    const left = binaryLeft - read.content.bytes;
    return { file: file(read.content, read.next - 1), next: read.next, notUtf8, binaryLeft: left };
  }
  if (line.endsWith(' differ') && isComplete(source, next) && /^(?:Binary files|Files) /.test(line)) {
    return { file: file({ method: 'differs', bytes: 0, text: null }, next), next: next + 1, notUtf8, binaryLeft };
  }
  const changes =
    header.isNew === true ||
    header.isDelete === true ||
    header.isRename ||
    header.isCopy ||
    (header.newMode !== null && header.newMode !== header.oldMode);
  if (!changes) refuse('nothing_changed', 'The file header is not followed by a change', span);
  return { file: file(null, next - 1), next, notUtf8, binaryLeft };
}

/** Why a line outside any file section could be read as part of a patch; null for prose. */
function looksLikePatch(line: string): string | null {
  if (line.startsWith('--- ') || line.startsWith('+++ ')) return 'a file name without a hunk below it';
  if (line.startsWith('@@')) return 'an invalid hunk header';
  if (line.startsWith('diff --cc ') || line.startsWith('diff --combined ')) return 'a combined diff of a merge';
  if (line === 'GIT binary patch' || /^(?:literal|delta) \d+$/.test(line)) return 'binary content without a file';
  if (/^(?:new file mode|deleted file mode|old mode|new mode|rename from|rename to|copy from|copy to) /.test(line))
    return 'a header line without a file';
  return null;
}
