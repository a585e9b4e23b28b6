import { GITLINK, SYMLINK, type PatchFile } from '../facts/git-facts';
import { ABSENT, type ChangedPath } from './changed-paths';

const EXECUTABLE = '100755';

/**
 * Why git does something else to a path than the patch states, or null. Git applies all removals first, takes a mode that the
 * patch does not state from the tree, and only warns if the patch states a wrong executable bit.
 */
export function notAsStated(entry: ChangedPath, files: readonly PatchFile[]): string | null {
  const { path, oldMode, newMode } = entry;
  const sections = files.filter(({ oldPath, newPath }) => oldPath === path || newPath === path);
  if (sections.length === 0) return 'git changes it, but no header of the patch names it';
  if (isSpecial(oldMode) && !sections.some((file) => file.oldMode === oldMode))
    return `it has the mode ${oldMode}, which the patch does not state`;
  const writer = lastWriter(path, sections);
  if ((writer === null) !== (newMode === ABSENT))
    return writer === null ? 'the patch removes it, but git keeps it' : 'git removes it, but the patch keeps it';
  return writer === null ? null : modeNotAsStated(entry, writer);
}

const isSpecial = (mode: string): boolean => mode === SYMLINK || mode === GITLINK;

/** The last section that writes the path; null if a later one removes it. */
function lastWriter(path: string, sections: readonly PatchFile[]): PatchFile | null {
  let writer: PatchFile | null = null;
  for (const file of sections) {
    if (file.newPath === path) writer = file;
    else if (file.change === 'delete') writer = null;
    // A rename moves the file that existed before the patch, not a file that the patch creates under the same name.
    else if (file.change === 'rename' && writer?.change === 'modify') writer = null;
  }
  return writer;
}

function modeNotAsStated({ oldMode, newMode }: ChangedPath, file: PatchFile): string | null {
  const problem = `git gives it the mode ${newMode}, which the patch does not state`;
  if (file.newMode === null) {
    const isOtherExecutable = file.change === 'copy' && file.hunks.length > 0 && newMode === EXECUTABLE;
    return isSpecial(newMode) || isOtherExecutable ? problem : null;
  }
  if (oldMode === newMode && !isSpecial(newMode)) return null;
  if (file.newMode !== newMode) return problem;
  return file.change === 'modify' && file.oldMode !== oldMode
    ? `git changes its mode ${oldMode}, which the patch does not state`
    : null;
}
