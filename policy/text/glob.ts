import { memoizeByObject } from './memoize';

/**
 * True if the pattern matches the path. `*` matches within one name, `**` across folders, and a `**` followed by a slash also
 * matches no folder. A pattern that ends with a slash matches everything in the folder. All other characters are literal.
 * Worst-case time is the product of both lengths; typical patterns take linear time.
 */
export function globCovers(glob: string, path: string): boolean {
  const pattern = glob.endsWith('/') ? `${glob}**` : glob;
  let p = 0;
  let i = 0;
  // Backtracking positions after a mismatch: after the last `*`, and after the last `**`, which may also match slashes.
  let star = -1;
  let starAt = -1;
  let deep = -1;
  let deepAt = -1;
  /** A `**` with slashes around it matches complete folders only. */
  let folders = false;
  for (;;) {
    if (pattern.startsWith('**', p)) {
      folders = pattern[p + 2] === '/' && (p === 0 || pattern[p - 1] === '/');
      p += folders ? 3 : 2;
      [deep, deepAt, star] = [p, i, -1];
      continue;
    }
    if (pattern[p] === '*') {
      p++;
      [star, starAt] = [p, i];
      continue;
    }
    if (i === path.length && p === pattern.length) return true;
    if (i < path.length && p < pattern.length && pattern[p] === path[i]) {
      p++;
      i++;
      continue;
    }
    if (star !== -1 && starAt < path.length && path[starAt] !== '/') {
      p = star;
      i = ++starAt;
      continue;
    }
    if (deep === -1) return false;
    if (folders) {
      const slash = path.indexOf('/', deepAt);
      if (slash === -1) return false;
      deepAt = slash + 1;
    } else if (++deepAt > path.length) return false;
    [p, i, star] = [deep, deepAt, -1];
  }
}

/** A path, prepared for lists of globs. In lower case, because case sensitivity differs between file systems. */
export interface PathName {
  readonly path: string;
  readonly lower: string;
  /** The last segment, and the folders above it, in lower case. */
  readonly base: string;
  readonly folders: readonly string[];
}

export function pathName(path: string): PathName {
  const lower = path.toLowerCase();
  const folders = lower.split('/');
  const base = folders.pop() as string;
  return { path, lower, base, folders };
}

/** The first of `globs` that matches the path, ignoring case. The list is memoized by identity, so it must not be modified. */
export function coveringGlob(globs: readonly string[], name: PathName): string | undefined {
  return globs.length === 0 ? undefined : globs[firstOf(listOf(globs), name)];
}

const listOf = memoizeByObject(readList);

/**
 * A list of globs, indexed by form, so that most globs need one map lookup. Values are positions in the list; of equal globs
 * the first position is kept.
 */
interface GlobList {
  /** No star: `a/b`. */
  readonly paths: ReadonlyMap<string, number>;
  /** `**` and a slash, then `b`. */
  readonly bases: ReadonlyMap<string, number>;
  /** `**` and a slash, then `*.b`. */
  readonly endings: ReadonlyMap<string, number>;
  /** `b` between two `**`. */
  readonly folders: ReadonlyMap<string, number>;
  /** Globs of any other form, tried one by one in the order of the list. */
  readonly others: readonly { readonly at: number; readonly covers: (name: PathName) => boolean }[];
}

function readList(globs: readonly string[]): GlobList {
  const maps: Record<IndexedForm, Map<string, number>> = {
    paths: new Map(),
    bases: new Map(),
    endings: new Map(),
    folders: new Map(),
  };
  const others: GlobList['others'][number][] = [];
  for (const [at, glob] of globs.entries()) {
    const [how, text] = shapeOf(glob.toLowerCase());
    if (how === 'below') others.push({ at, covers: ({ lower }) => lower.startsWith(text) });
    else if (how === 'named') {
      const parts = text.split('*');
      others.push({ at, covers: ({ base }) => containsInOrder(base, parts) });
    } else if (how === 'any') others.push({ at, covers: ({ lower }) => globCovers(text, lower) });
    else if (!maps[how].has(text)) maps[how].set(text, at);
  }
  return { ...maps, others };
}

type IndexedForm = 'paths' | 'bases' | 'endings' | 'folders';
/** `below`: `a` and a slash, then `**`. `named`: `**` and a slash, then one segment with single stars. `any`: all other forms. */
type ScannedForm = 'below' | 'named' | 'any';

/** True if the text starts with the first part, ends with the last, and has the others in order between them. Needs at least two parts. */
function containsInOrder(text: string, parts: readonly string[]): boolean {
  const last = parts.length - 1;
  const [first, end] = [parts[0] as string, text.length - (parts[last] as string).length];
  let at = first.length;
  if (at > end || !text.startsWith(first) || !text.endsWith(parts[last] as string)) return false;
  for (let i = 1; i < last; i++) {
    const found = text.indexOf(parts[i] as string, at);
    if (found === -1) return false;
    at = found + (parts[i] as string).length;
  }
  return at <= end;
}

function shapeOf(glob: string): readonly [IndexedForm | ScannedForm, string] {
  const pattern = glob.endsWith('/') ? `${glob}**` : glob;
  if (!pattern.includes('*')) return ['paths', pattern];
  if (pattern.indexOf('*') === pattern.length - 2 && pattern.endsWith('/**')) return ['below', pattern.slice(0, -2)];
  const rest = pattern.startsWith('**/') ? pattern.slice(3) : '';
  if (isPlain(rest)) return ['bases', rest];
  if (rest.startsWith('*.') && isPlain(rest.slice(2)) && !rest.includes('.', 2)) return ['endings', rest.slice(2)];
  if (rest.endsWith('/**') && isPlain(rest.slice(0, -3))) return ['folders', rest.slice(0, -3)];
  return pattern.startsWith('**/') && !rest.includes('/') && !rest.includes('**') ? ['named', rest] : ['any', pattern];
}

function isPlain(text: string): boolean {
  return text !== '' && !text.includes('*') && !text.includes('/');
}

/** Position of the first matching glob; -1 if none matches. */
function firstOf(list: GlobList, name: PathName): number {
  const { lower, base, folders } = name;
  let first = Number.MAX_SAFE_INTEGER;
  const seen = (at: number | undefined): void => {
    if (at !== undefined && at < first) first = at;
  };
  if (list.paths.size > 0) seen(list.paths.get(lower));
  if (list.bases.size > 0) seen(list.bases.get(base));
  if (list.endings.size > 0) {
    const dot = base.lastIndexOf('.');
    if (dot !== -1) seen(list.endings.get(base.slice(dot + 1)));
  }
  if (list.folders.size > 0) for (const folder of folders) seen(list.folders.get(folder));
  for (const { at, covers } of list.others) {
    if (at > first) break;
    if (covers(name)) return at;
  }
  return first === Number.MAX_SAFE_INTEGER ? -1 : first;
}
