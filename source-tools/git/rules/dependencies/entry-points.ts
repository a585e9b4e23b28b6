import type { Hit } from '../../../../policy/rules/hit';
import type { PatchFile, PatchLine } from '../../facts/git-facts';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { withoutEscapes } from './json-escapes';
import { membersIn, TOO_MANY, type JsonMember } from './json-members';
import { MAX_LINE } from './long-lines';
import { isPlainItem, packageSetting } from './package-members';
import { MOVES, SETTING } from './setting';

const RUNS = 'decides which code of the package runs';
const PUBLISHED = 'decides what is published';
const UNKNOWN = 'is an item of a list that the hunk does not show';

/** Members of package.json whose value is a file that is run or imported. A value with a space is a command in `scripts`. */
const ENTRIES = new Set(['main', 'module', 'browser', 'exports', 'bin', 'unpkg', 'jsdelivr']);
const FILE = /^"[^"\s]*"$/;

/** What package.json names as its entry points, commands and published files. A member that only moves within its object stays the same. */
export function entryHits({ file }: FileView): Hit[] {
  const placed = file.hunks.flatMap((hunk): Hit[] => {
    const members = membersIn(hunk);
    if (members === null) return hunk.lines.slice(0, 1).map((line) => atLine(file, line, TOO_MANY));
    const { before, after, moves } = members;
    const [known, kept] = [new Set(before.map(identityOf)), new Set(after.map(identityOf))];
    const lost = before.filter((member) => keepsBack(member) && !kept.has(member.identity));
    const hits = new Map<PatchLine, string>(lost.map(({ line }) => [line, PUBLISHED]));
    const [places, containers] = [
      new Set(before.map(({ place }) => place)),
      new Set(before.map(({ parent }) => parent.id)),
    ];
    // A new package has nothing that its entry points replace.
    const hasExports =
      file.change === 'add' || before.some(({ parent, key }) => parent.key === null && key === 'exports');
    for (const member of after) {
      if (known.has(member.identity) || hits.has(member.line)) continue;
      const isOther = places.has(member.place) || (containers.has(member.parent.id) && isCondition(member));
      const isMoved = isOther && member.key !== null && isPath(member.key, member.value);
      const replacesMain = !hasExports && isMainEntry(member);
      const what = kindOf(member) ?? (isMoved || replacesMain ? RUNS : packageSetting(member));
      if (what !== null) hits.set(member.line, what);
    }
    if (moves !== null && hits.size === 0) hits.set(moves, MOVES);
    return [...hits].map(([line, what]) => atLine(file, line, what));
  });
  return [...placed, ...otherPathHits(file)];
}

/** Whether a member keeps the package, or files, from being published. `!!` includes a file again. */
function keepsBack({ parent, key, value }: JsonMember): boolean {
  return key === null ? parent.key === 'files' && /^"![^!]/.test(value) : key === 'private' && value === 'true';
}

const identityOf = ({ identity }: JsonMember): string => identity;

/** What a member decides about; null if it decides neither what runs nor what is published. */
function kindOf(member: JsonMember): string | null {
  const { parent, key, value } = member;
  if (key === null) return value.startsWith('"') && !keepsBack(member) ? itemKind(parent, value) : null;
  if (parent.key === 'scripts') return null;
  if (parent.key === 'bin' || parent.key === 'browser') return RUNS;
  if (ENTRIES.has(key) && FILE.test(value)) return RUNS;
  if ((key === 'bin' || key === 'browser') && value === '{') return RUNS;
  const isPublished =
    (key === 'private' && value !== 'true') ||
    (key === 'access' && value === '"public"') ||
    (key === 'directory' && parent.key === 'publishConfig') ||
    ((key === 'files' || key === 'workspaces') && value === '[');
  return isPublished ? PUBLISHED : null;
}

/** What an item of a list is; null if it names nothing that is published or run. */
function itemKind({ kind, key }: JsonMember['parent'], value: string): string | null {
  if (kind !== '[' || key === null) return UNKNOWN;
  if (key === 'files' || key === 'workspaces') return PUBLISHED;
  return isPlainItem(key, value) ? null : SETTING;
}

/** What `exports` names instead of `main`, and not below the package, as `"./a"` is. */
function isMainEntry({ parent, key }: JsonMember): boolean {
  return parent.key === 'exports' && key !== null && !key.startsWith('./');
}

/** A condition of an entry in `exports`: the first one that applies decides. */
function isCondition({ parent, key }: JsonMember): boolean {
  return key !== null && /^[\w-]+$/.test(key) && parent.key !== null && /^\.|^exports$/.test(parent.key);
}

const PATH = /"([^"]{1,200})"\s*:\s*"(\.{1,2}\/[^"]{0,300})"/g;
/** A file of the package at the start of a value. */
const LOCAL = /^"\.{1,2}\//;
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

const isPath = (key: string, value: string): boolean =>
  LOCAL.test(value) && !TYPES.test(key) && !TYPES.test(value.slice(1, -1));

function pathsIn(line: PatchLine): [string, string][] {
  const paths = [...withoutEscapes(line.text.slice(0, MAX_LINE)).matchAll(PATH)].map(
    // The entry of the package itself has two forms: https://nodejs.org/api/packages.html#exports-sugar
    ([, name = '', path = '']): [string, string] => [name === '.' ? 'exports' : name, path],
  );
  return paths.filter(([name, path]) => !TYPES.test(name) && !TYPES.test(path));
}
