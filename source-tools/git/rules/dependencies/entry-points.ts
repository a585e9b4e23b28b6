import type { Hit } from '../../../../policy/rules/rule-maker';
import type { PatchFile, PatchLine } from '../../facts/git-facts';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { withoutEscapes } from './json-escapes';
import { MAX_LINE } from './long-lines';

const RUNS = 'decides which code of the package runs';
const PUBLISHED = 'decides what is published';
export const SETTING = 'is a setting of a tool, which can load or run code';
const UNKNOWN = 'is an item of a list that the hunk does not show';

/** Members of package.json whose value is a file that is run or imported. A value with a space is a command in `scripts`. */
const ENTRY = /"(?:main|module|browser|exports)"\s*:\s*"[^"\s]*"|"bin"\s*:\s*(?:\{|"[^"\s]*")/;
const PUBLISHES = /"private"\s*:\s*(?!true)|"access"\s*:\s*"public"|"(?:files|workspaces)"\s*:\s*\[/;
/** An item that is a file of the tree, but not types, which `typesVersions` lists. */
const LOCAL_ITEM = /^"(?!\.\/dist\/types\/)(?:(?:\.{1,2}|<rootDir>)\/[^"\s]*|[^"\s]+\.[cm]?[jt]sx?)"$/;

/** What package.json names as its entry points, commands and published files. A line that only moves is not a change. */
export function entryHits(view: FileView): Hit[] {
  const { file } = view;
  const added = new Set(view.lines('+').map(plain));
  const becomesPublic = view
    .lines('-')
    .filter((line) => /"private"\s*:\s*true/.test(line.text) && !added.has(plain(line)))
    .map((line) => atLine(file, line, PUBLISHED));
  const removed = new Set(view.lines('-').map(plain));
  const named = view.lines('+').flatMap((line): Hit[] => {
    const text = plain(line);
    if (removed.has(text)) return [];
    const what = ENTRY.test(text) ? RUNS : PUBLISHES.test(text) ? PUBLISHED : null;
    return what === null ? [] : [atLine(file, line, what)];
  });
  return [...becomesPublic, ...named, ...placedHits(file), ...otherPathHits(file)];
}

function plain({ text }: PatchLine): string {
  return withoutEscapes(text.slice(0, MAX_LINE)).trim().replace(/,$/, '');
}

/** Added lines whose meaning is that of the list or of the member above them in the hunk. */
function placedHits(file: PatchFile): Hit[] {
  return file.hunks.flatMap(({ lines }) => {
    const removed = new Set(lines.filter(({ kind }) => kind === '-').map(plain));
    let [list, isBin]: [string | null, boolean] = [null, false];
    return lines.flatMap((line) => {
      if (line.kind === '-') return [];
      const text = plain(line);
      const isItem = /^"[^"]*"$/.test(text);
      const what = isItem ? itemKind(list, text) : isBin && /^"[^"]*"\s*:/.test(text) ? RUNS : null;
      const [, opened, bracket] = /"([^"]+)"\s*:\s*([[{])$/.exec(text) ?? [];
      if (opened !== undefined) [list, isBin] = bracket === '[' ? [opened, false] : [null, opened === 'bin'];
      else if (/^[\]}]/.test(text)) [list, isBin] = [null, false];
      return line.kind === '+' && what !== null && !removed.has(text) ? [atLine(file, line, what)] : [];
    });
  });
}

/** What an item of the list is; null if it names nothing that is published or run. */
function itemKind(list: string | null, text: string): string | null {
  if (list === null) return UNKNOWN;
  if (list === 'files' || list === 'workspaces') return PUBLISHED;
  return /^[\w-]+$/.test(list) && list !== 'keywords' && LOCAL_ITEM.test(text) && !/\.d\.[cm]?ts"$/.test(text)
    ? SETTING
    : null;
}

const PATH = /"([^"]{1,200})"\s*:\s*"(\.{1,2}\/[^"]{1,300})"/g;
const TYPES = /^(?:types|typings|\$schema|.*\.d\.[cm]?ts)$/;

/** Members such as those of `exports` that get another file in a hunk. A new member only adds what can be imported. */
export function otherPathHits(file: PatchFile): Hit[] {
  return file.hunks.flatMap(({ lines }) => {
    const before = new Map<string, Set<string>>();
    for (const line of lines)
      if (line.kind === '-')
        for (const [name, path] of pathsIn(line)) before.set(name, (before.get(name) ?? new Set()).add(path));
    return lines.flatMap((line) => {
      if (line.kind !== '+') return [];
      const isOther = pathsIn(line).some(([name, path]) => before.get(name)?.has(path) === false);
      return isOther ? [atLine(file, line, RUNS)] : [];
    });
  });
}

function pathsIn(line: PatchLine): [string, string][] {
  const paths = [...plain(line).matchAll(PATH)].map(([, name = '', path = '']): [string, string] => [name, path]);
  return paths.filter(([name, path]) => !TYPES.test(name) && !TYPES.test(path));
}
