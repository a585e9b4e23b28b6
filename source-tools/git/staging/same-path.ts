import { foldedName } from '../facts/names';
import { ABSENT, type ChangedPath } from './changed-paths';
import type { Repository } from './repository';

/** Total length of the folders that git gets as arguments. */
const MAX_FOLDERS_BYTES = 400_000;

interface SamePath {
  readonly path: string;
  readonly why: string;
}

/**
 * An added path that some file systems take for another path of the tree, so that a checkout writes one over the other: those without
 * case, with one Unicode form of each name, or that ignore parts of a name. Names that were in the tree before the change are not
 * compared. Null if no added path is.
 */
export async function samePath(
  repository: Repository,
  changed: readonly ChangedPath[],
  trees: { readonly before: string; readonly after: string },
): Promise<SamePath | null> {
  const added = changed.filter(({ oldMode }) => oldMode === ABSENT);
  const folders = [...new Set(added.flatMap(({ path }) => startsOf(path).slice(0, -1)))];
  if (Buffer.byteLength(folders.join('')) > MAX_FOLDERS_BYTES)
    return { path: added[0]?.path ?? '', why: 'the patch adds files in too many folders; submit it in smaller parts' };
  const before = new Set(await pathsIn(repository, trees.before, folders));
  const byFolded = new Map<string, string[]>();
  for (const path of await pathsIn(repository, trees.after, folders)) {
    const key = folded(path);
    byFolded.set(key, [...(byFolded.get(key) ?? []), path]);
  }
  for (const { path } of added)
    for (const start of startsOf(path)) {
      if (before.has(start)) continue;
      const other = byFolded.get(folded(start))?.find((each) => each !== start);
      if (other !== undefined) return { path, why: `on some file systems ${start} is the same path as ${other}` };
    }
  return null;
}

/** `a`, `a/b` and `a/b/c` of `a/b/c`. */
function startsOf(path: string): readonly string[] {
  const names = path.split('/');
  return names.map((_, i) => names.slice(0, i + 1).join('/'));
}

/** What NTFS reads as the content of the file or folder itself. Other text after a colon names another stream. */
const OWN_STREAM = /:(?:\$i30)?:\$(?:data|index_allocation)$/i;
/** Characters that ext4 ignores in folders without case. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Upper case first, because some file systems compare as Unicode's case folding does: `ß` like `ss`. */
function folded(path: string): string {
  const names = path.replaceAll(IGNORABLE, '').split('/');
  const bare = names.map((name) => name.replace(OWN_STREAM, '').split(':').map(foldedName).join(':')).join('/');
  return bare.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

/** The paths directly below the root and below the folders. */
async function pathsIn(repository: Repository, tree: string, folders: readonly string[]): Promise<readonly string[]> {
  const list = async (...below: readonly string[]): Promise<readonly string[]> =>
    (await repository.read(['ls-tree', '-t', '-z', '--name-only', tree, ...below])).toString('utf8').split('\0');
  const root = await list();
  return folders.length === 0 ? root : [...root, ...(await list(...folders.map((folder) => `${folder}/`)))];
}
