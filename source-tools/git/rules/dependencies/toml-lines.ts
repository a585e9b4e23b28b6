import type { PatchFile, PatchLine } from '../../facts/git-facts';
import { MAX_LINE } from './long-lines';

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
}

const HEADER = /^\[+\s*(["']?[A-Za-z_].*?)\s*\]+\s*(?:#.*)?$/;
const OPENS_LIST = /(?:^|[{,]\s*)([\w."'-]+)\s*=\s*\[[^\]]*$/;

/** The added lines of a file, with their tables. Blank lines, comments and lines of closing brackets are left out. */
export function addedTomlLines({ hunks }: PatchFile): readonly TomlLine[] {
  return hunks.flatMap(({ lines }) => {
    let [table, list]: [string | null, string | null] = [null, null];
    return lines.flatMap((line): readonly TomlLine[] => {
      if (line.kind === '-') return [];
      const text = line.text.slice(0, MAX_LINE).trim();
      // An item of a list of lists can look like a header only if it is quoted.
      const opened = HEADER.exec(text)?.[1];
      if (opened !== undefined) [table, list] = [opened.replaceAll(/["'\s]/g, ''), null];
      const isItem = /^(?:["'{[]|\d)/.test(text) && !/^["'][^"']*["']\s*[.=]/.test(text);
      const read = { line, text, table, isHeader: opened !== undefined, list: isItem ? list : null };
      list = OPENS_LIST.exec(text)?.[1] ?? (isItem || text.startsWith('#') || text === '' ? list : null);
      if (line.kind !== '+' || /^(?:#.*|[\]},\s]*(?:#.*)?)$/.test(text)) return [];
      return [read];
    });
  });
}
