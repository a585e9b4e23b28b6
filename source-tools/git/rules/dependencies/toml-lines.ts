import type { Hit } from '../../../../policy/rules/hit';
import type { PatchFile, PatchLine } from '../../facts/git-facts';
import { atLine } from '../define-git-rule';
import { MAX_LINE } from './long-lines';
import { MOVES } from './setting';

/** A text in quotes that contains nothing with which a line can be read wrongly. */
export const TEXT = String.raw`(?:"[^"\\}]*"|'[^'}]*')`;
/** One or more items of a list. White space before a comma and at the end must be read in one way only, or a line takes long. */
export const items = (item: string): string => String.raw`${item}(?:\s*,\s*${item})*\s*(?:,\s*)?`;
/** A list of texts, which ends in its line. */
export const TEXTS = String.raw`\[\s*(?:${items(TEXT)})?\]`;
/** The end of a line. */
export const END = String.raw`\s*(?:#.*)?$`;
/** A range of versions that `declaredIn` reads, in its quotes. */
export const VERSION_RANGE = String.raw`["']\s*(?:\*|[\^~<>=!]{0,3}\s?\d[\w.*+-]*(?:\s*,\s*[\^~<>=!]{0,3}\s?\d[\w.*+-]*)*)\s*["']`;

/** What a line of TOML is in, as far as its hunk shows it. */
export interface TomlLine {
  readonly line: PatchLine;
  /** Without the white space around it. */
  readonly text: string;
  /** The table, without quotes and white space; null if the hunk does not show it. */
  readonly table: string | null;
  readonly isHeader: boolean;
  /** The key of the list around an item; null for any other line, and if the hunk does not show it. */
  readonly list: string | null;
  /** Whether the line differs from a removed one only in the version. */
  readonly isUpdate: boolean;
}

/** `name = "1"` or `name = { version = "1", … }`, where `members` are the other members that it may have. */
export function packageLine(members: readonly string[]): RegExp {
  const [version, other] = [String.raw`version\s*=\s*${VERSION_RANGE}`, `(?:${members.join('|')})`];
  const table = String.raw`\{\s*(?:${other}\s*,\s*)*${version}(?:\s*,\s*${other})*\s*\}`;
  return new RegExp(String.raw`^["']?[\w.-]+["']?\s*=\s*(?:${VERSION_RANGE}|${table})${END}`);
}

const OPENS_LIST = /(?:^|[{,]\s*)([\w."'-]+)\s*=\s*\[[^\]]*$/;

/** The added lines of a file, with their tables. Blank lines, comments and lines of closing brackets are left out. */
export function addedTomlLines({ hunks }: PatchFile): readonly TomlLine[] {
  return hunks.flatMap(({ lines }) => {
    const isUpdate = updatesIn(lines);
    let [table, list]: [string | null, string | null] = [null, null];
    return lines.flatMap((line): readonly TomlLine[] => {
      if (line.kind === '-') return [];
      const text = line.text.slice(0, MAX_LINE).trim();
      const opened = tableOf(text);
      if (opened !== null) [table, list] = [opened, null];
      const isItem = /^(?:["'{[]|\d)/.test(text) && !/^["'][^"']*["']\s*[.=]/.test(text);
      const read = { line, text, table, isHeader: opened !== null, list: isItem ? list : null };
      list = OPENS_LIST.exec(text)?.[1] ?? (isItem || text.startsWith('#') || text === '' ? list : null);
      if (line.kind !== '+' || /^(?:#.*|[\]},\s]*(?:#.*)?)$/.test(text)) return [];
      return [{ ...read, isUpdate: isUpdate(text) }];
    });
  });
}

/** The table that a line opens. An item of a list of lists can look like a header only if it is quoted. */
function tableOf(text: string): string | null {
  const header = text.replace(/#.*/, '').trimEnd();
  return /^\[+\s*["']?[A-Za-z_]/.test(header) && header.endsWith(']') ? header.replaceAll(/[[\]"'\s]/g, '') : null;
}

const VERSION = new RegExp(String.raw`[{,]\s*version\s*=\s*${VERSION_RANGE}`);
const withoutVersion = (text: string): string => text.replace(VERSION, 'version').trim();

/** Tells of a line that it differs from a removed line of its hunk only in the version, so that its source stays. */
export function updatesIn(lines: readonly PatchLine[]): (text: string) => boolean {
  const removed = lines.filter(({ kind, text }) => kind === '-' && VERSION.test(text.slice(0, MAX_LINE)));
  const before = new Set(removed.map(({ text }) => withoutVersion(text)));
  return (text) => before.size > 0 && text.length <= MAX_LINE && VERSION.test(text) && before.has(withoutVersion(text));
}

/**
 * Hits for lines that stay but are in another table than before, because a line that opens one is new or removed; and for the
 * end of a hunk if that happens to the lines below. `groupOf` is the same for tables between which a line may move.
 */
export function movedTomlHits(file: PatchFile, groupOf: (table: string) => string): Hit[] {
  return file.hunks.flatMap(({ lines }) => {
    let [before, after]: [string | null, string | null] = [null, null];
    const moved = lines.find(({ kind, text }, i) => {
      const read = text.slice(0, MAX_LINE).trim();
      const opened = tableOf(read);
      const group = opened === null ? null : groupOf(opened);
      if (group !== null && kind !== '+') before = group;
      if (group !== null && kind !== '-') after = group;
      if (kind !== ' ' || opened !== null || before === after) return false;
      return i === lines.length - 1 || !/^(?:#.*)?$/.test(read);
    });
    return moved === undefined ? [] : [atLine(file, moved, MOVES)];
  });
}
