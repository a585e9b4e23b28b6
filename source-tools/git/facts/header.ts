import { refuse } from '../../../policy/text/refusal';
import { findName, findPlainName, isDevNull, isEpoch, nameOfHeader, type Strip } from './names';
import { isComplete, spanOf, type Source } from './source';

/** The header of one file; names are bytes (latin1). `isNew` and `isDelete` are null if a plain patch does not tell. */
export interface Header {
  oldName: string | null;
  newName: string | null;
  isNew: boolean | null;
  isDelete: boolean | null;
  isRename: boolean;
  isCopy: boolean;
  oldMode: number | null;
  newMode: number | null;
  similarity: number | null;
  /** Git reads `/dev/null` as a file name if the header does not mark the file as new or deleted. */
  namesDevNull: boolean;
  readonly first: number;
  /** Index of the line after the header. */
  next: number;
}

function emptyHeader(first: number, explicit: boolean): Header {
  return {
    oldName: null,
    newName: null,
    isNew: explicit ? false : null,
    isDelete: explicit ? false : null,
    isRename: false,
    isCopy: false,
    oldMode: null,
    newMode: null,
    similarity: null,
    namesDevNull: false,
    first,
    next: first + 1,
  };
}

interface Line {
  readonly source: Source;
  readonly index: number;
  /** The text after the line's keyword. */
  readonly rest: string;
  readonly strip: Strip;
  readonly fallback: string | null;
}

type Reader = (header: Header, line: Line) => void;

/** A keyword that is a prefix of another comes after it. Any other line ends the header. */
const READERS: readonly (readonly [string, Reader])[] = [
  ['--- ', (header, line) => plainSide(header, line, 'old')],
  ['+++ ', (header, line) => plainSide(header, line, 'new')],
  ['old mode ', (header, line) => (header.oldMode = modeOf(line))],
  ['new mode ', (header, line) => (header.newMode = modeOf(line))],
  [
    'deleted file mode ',
    (header, line) => {
      header.isDelete = true;
      header.oldName = line.fallback;
      header.oldMode = modeOf(line);
    },
  ],
  [
    'new file mode ',
    (header, line) => {
      header.isNew = true;
      header.newName = line.fallback;
      header.newMode = modeOf(line);
    },
  ],
  ['copy from ', (header, line) => movedSide(header, line, 'isCopy', 'oldName')],
  ['copy to ', (header, line) => movedSide(header, line, 'isCopy', 'newName')],
  ['rename old ', (header, line) => movedSide(header, line, 'isRename', 'oldName')],
  ['rename new ', (header, line) => movedSide(header, line, 'isRename', 'newName')],
  ['rename from ', (header, line) => movedSide(header, line, 'isRename', 'oldName')],
  ['rename to ', (header, line) => movedSide(header, line, 'isRename', 'newName')],
  ['similarity index ', (header, line) => (header.similarity = percentOf(line.rest) ?? header.similarity)],
  ['dissimilarity index ', (header, line) => (header.similarity = percentOf(line.rest) ?? header.similarity)],
  ['index ', indexLine],
];

/** The header that starts with `diff --git` at `first`; null if no header line follows. */
export function readGitHeader(source: Source, first: number, strip: Strip): Header | null {
  const header = emptyHeader(first, true);
  const rest = (source.lines[first] as string).slice('diff --git '.length);
  const fallback = nameOfHeader(rest, strip);
  let index = first + 1;
  for (; index < source.lines.length && isComplete(source, index); index++) {
    const text = source.lines[index] as string;
    if (text.startsWith('@@ -')) break;
    const reader = READERS.find(([word]) => text.startsWith(word));
    if (reader === undefined) break;
    const [word, read] = reader;
    read(header, { source, index, rest: text.slice(word.length), strip, fallback });
    if (Number(header.isDelete) + Number(header.isNew) + Number(header.isRename) + Number(header.isCopy) > 1)
      refuse('inconsistent_header', 'Header lines contradict each other', spanOf(source, first, index));
  }
  if (index === first + 1) return null;
  header.next = index;
  if (header.oldName === null && header.newName === null) {
    header.oldName = fallback;
    header.newName = fallback;
  }
  const nameless =
    (header.newName === null && header.isDelete !== true) || (header.oldName === null && header.isNew !== true);
  if (nameless || (header.oldName === null && header.newName === null))
    refuse('no_file_name', 'The header does not name its file', spanOf(source, first, index - 1));
  return header;
}

/** `---` and `+++` under `diff --git`: they must agree with the header lines above them. */
function plainSide(header: Header, line: Line, side: 'old' | 'new'): void {
  const key = side === 'old' ? 'oldName' : 'newName';
  const absent = side === 'old' ? header.isNew === true : header.isDelete === true;
  const known = header[key];
  const inconsistent = (): never =>
    refuse('inconsistent_header', 'Header lines name different files', spanOf(line.source, header.first, line.index));
  if (known === null) {
    if (absent) {
      if (!isDevNull(line.rest)) inconsistent();
      return;
    }
    header[key] = findName(line.rest, line.strip, 'tab');
    if (isDevNull(line.rest)) header.namesDevNull = true;
    return;
  }
  if (absent || findName(line.rest, line.strip, 'tab') !== known) inconsistent();
}

function movedSide(header: Header, line: Line, kind: 'isRename' | 'isCopy', key: 'oldName' | 'newName'): void {
  header[kind] = true;
  // These names have no a/ or b/ prefix.
  header[key] = findName(line.rest, 0, 'cr');
}

function modeOf(line: Line, text = line.rest): number {
  const match = /^[0-7]{1,7}(?=\s|$)/.exec(text);
  if (match === null) return refuse('invalid_mode', 'Invalid file mode', spanOf(line.source, line.index));
  return Number.parseInt(match[0], 8);
}

function percentOf(text: string): number | null {
  const match = /^\d{1,3}/.exec(text);
  return match !== null && Number(match[0]) <= 100 ? Number(match[0]) : null;
}

/** `index <id>..<id> <mode>`: states the mode of a file whose mode does not change. */
function indexLine(header: Header, line: Line): void {
  const dots = line.rest.indexOf('.');
  if (dots === -1 || line.rest[dots + 1] !== '.' || dots > 64) return;
  const blank = line.rest.indexOf(' ', dots + 2);
  if (blank === -1 || blank - dots - 2 > 64) return;
  header.oldMode = modeOf(line, line.rest.slice(blank + 1));
}

interface PlainHeader {
  readonly header: Header;
  readonly strip: Strip;
  readonly stripKnown: boolean;
}

/** `---` and `+++` before a hunk without `diff --git`, as `diff -u`, Subversion and others write. Null if no hunk follows. */
export function readPlainHeader(source: Source, first: number, strip: Strip, stripKnown: boolean): PlainHeader | null {
  const oldLine = source.lines[first] as string;
  const newLine = source.lines[first + 1];
  if (!oldLine.startsWith('--- ') || newLine === undefined || !newLine.startsWith('+++ ')) return null;
  if (!(source.lines[first + 2] ?? '').startsWith('@@ -')) return null;
  const [before, after] = [oldLine.slice(4), newLine.slice(4)];
  const known = stripKnown ? null : guessStrip(after);
  const used = known ?? strip;
  const header = emptyHeader(first, false);
  header.next = first + 2;
  const fromNothing = isDevNull(before);
  const toNothing = !fromNothing && isDevNull(after);
  const oldName = fromNothing ? null : findPlainName(before, used, null);
  const name = toNothing ? oldName : findPlainName(after, used, oldName);
  if (name === null)
    return refuse('no_file_name', 'The header does not name its file', spanOf(source, first, first + 1));
  const isNew = fromNothing || (!toNothing && isEpoch(before));
  const isDelete = !isNew && (toNothing || isEpoch(after));
  if (isNew || isDelete) [header.isNew, header.isDelete] = [isNew, isDelete];
  header.oldName = isNew ? null : name;
  header.newName = isDelete ? null : name;
  return { header, strip: used, stripKnown: stripKnown || known !== null };
}

/** 0 if the new name has no folder, and so no b/ to strip. Git decides by the first plain file of a patch. */
function guessStrip(after: string): 0 | null {
  const name = isDevNull(after) ? null : findPlainName(after, 0, null);
  return name !== null && !name.includes('/') ? 0 : null;
}
