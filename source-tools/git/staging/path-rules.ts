/**
 * Changes that the adapter refuses regardless of policy.
 *
 * T1 Every changed path is inside the tree and is not read as .git by any file system.
 * T2 Every mode is listed in the target's settings. Symbolic links and submodules are not allowed by default.
 * T3 The text of a symbolic link shows that its target is inside the tree, and the target is not behind another link.
 * T4 Git does to each path what the patch states, since rules and people read the patch.
 * T5 No added path is the same as another one on some file system, where a checkout would write one over the other.
 */
import { clip } from '../../../policy/text/cut-text';
import { decodeUtf8 } from '../../../policy/text/utf8';
import { GITLINK, SYMLINK, type PatchFile } from '../facts/git-facts';
import { foldedName, isReadAsGit } from '../facts/names';
import type { GitSettings } from '../staging-settings';
import { notAsStated } from './as-stated';
import { ABSENT, type ChangedPath } from './changed-paths';
import type { Repository } from './repository';
import { samePath } from './same-path';

const MAX_LINK_BYTES = 4096;

/** Why the change is refused, or null. `trees.after` is among the objects of the dry run. */
export async function refusedPath(
  repository: Repository,
  files: readonly PatchFile[],
  changed: readonly ChangedPath[],
  trees: { readonly before: string; readonly after: string },
): Promise<string | null> {
  for (const entry of changed) {
    const why =
      refusedName(entry.path) ??
      refusedMode(entry, repository.settings) ??
      notAsStated(entry, files) ??
      (await refusedSize(repository, entry, files)) ??
      (entry.newMode === SYMLINK ? await refusedLink(repository, entry, trees.after) : null);
    if (why !== null) return `${shown(entry.path)}: ${why}`;
  }
  const same = await samePath(repository, changed, trees);
  return same === null ? null : `${shown(same.path)}: ${same.why}`;
}

function refusedName(path: string): string | null {
  if (path.includes('\\') || path.startsWith('/')) return 'the path is absolute or contains a backslash';
  for (const part of path.split('/')) {
    if (part === '' || part === '.' || part === '..') return 'the path leaves the tree';
    if (isReadAsGit(part)) return 'the path is read as .git on some file systems';
    for (let i = 0; i < part.length; i++)
      if (part.charCodeAt(i) < 0x20 || part.charCodeAt(i) === 0x7f) return 'the path contains a control character';
  }
  return null;
}

function refusedMode({ path, oldMode, newMode }: ChangedPath, { modes }: GitSettings): string | null {
  const allowed = (mode: string): boolean => mode === ABSENT || (modes as readonly string[]).includes(mode);
  if (!allowed(newMode)) return `mode ${newMode} is not allowed for this target (allowed: ${modes.join(', ')})`;
  const submodules = oldMode === GITLINK || foldedName(path.split('/').at(-1) ?? '') === '.gitmodules';
  if (submodules && !allowed(GITLINK)) return 'it changes submodules, which this target does not allow';
  return null;
}

/** For a binary patch that states the id zero, git writes an empty file, whatever content follows. */
async function refusedSize(
  repository: Repository,
  { path, newBlob, newMode }: ChangedPath,
  files: readonly PatchFile[],
): Promise<string | null> {
  const binary = files.findLast((file) => file.newPath === path)?.binary ?? null;
  if (binary === null || newMode === ABSENT) return null;
  return (await sizeOf(repository, newBlob)) === binary.bytes ? null : 'its content is not the one in the patch';
}

async function sizeOf(repository: Repository, blob: string): Promise<number> {
  return Number(await repository.readText(['cat-file', '-s', blob]));
}

async function refusedLink(repository: Repository, entry: ChangedPath, after: string): Promise<string | null> {
  if ((await sizeOf(repository, entry.newBlob)) > MAX_LINK_BYTES)
    return `the target of the symbolic link is longer than ${MAX_LINK_BYTES} bytes`;
  const target = decodeUtf8(await repository.read(['cat-file', 'blob', entry.newBlob]));
  if (target === null || target.includes('\0') || target.includes('\\'))
    return 'the target of the symbolic link is not a valid path';
  const place = entry.path.split('/').slice(0, -1);
  let down = false;
  for (const part of target.split('/')) {
    if (part === '.') continue;
    if (part === '..') {
      // After a name, the meaning of `..` depends on what that name resolves to.
      if (down || place.length === 0) return 'the symbolic link leads out of the tree';
      place.pop();
      continue;
    }
    if (part === '' || refusedName(part) !== null) return 'the symbolic link leads out of the tree';
    down = true;
    place.push(part);
    const listed = await repository.readText(['ls-tree', after, place.join('/')]);
    if (listed.startsWith(`${SYMLINK} `)) return 'the symbolic link leads through another one';
  }
  return null;
}

function shown(path: string): string {
  return JSON.stringify(clip(path, 200));
}
