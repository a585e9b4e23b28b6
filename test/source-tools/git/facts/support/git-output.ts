import type { PatchFile } from '../../../../../source-tools/git/facts/git-facts';

/** The line that `git apply --numstat` prints for a file. */
export function numstat(file: PatchFile): string {
  const counts = file.binary === null ? `${file.added}\t${file.removed}` : '-\t-';
  return `${counts}\t${file.path}`;
}

/** The lines that `git apply --summary` prints for a file, trimmed. */
export function summary(file: PatchFile): string[] {
  const { oldMode, newMode, path } = file;
  const created = (verb: string, mode: string | null): string[] => [
    mode === null ? `${verb} ${path}` : `${verb} mode ${mode} ${path}`,
  ];
  const changed = oldMode !== null && newMode !== null && oldMode !== newMode;
  switch (file.change) {
    case 'add':
      return created('create', newMode);
    case 'delete':
      return created('delete', oldMode);
    case 'rename':
    case 'copy':
      // Two names without "rename from": git moves the file but prints no rename.
      if (file.similarity === null) return changed ? [`mode change ${oldMode} => ${newMode} ${path}`] : [];
      return [
        `${file.change} ${moved(file.oldPath ?? '', file.newPath ?? '')} (${file.similarity ?? 0}%)`,
        ...(changed ? [`mode change ${oldMode} => ${newMode}`] : []),
      ];
    case 'modify':
      if ((file.similarity ?? 0) > 0)
        return [`rewrite ${path} (${file.similarity}%)`, ...(changed ? [`mode change ${oldMode} => ${newMode}`] : [])];
      return changed ? [`mode change ${oldMode} => ${newMode} ${path}`] : [];
    default:
      return file.change satisfies never;
  }
}

/** Git prints the common leading folders before the braces. */
function moved(before: string, after: string): string {
  let at = 0;
  for (;;) {
    const slash = before.indexOf('/', at);
    if (slash === -1 || after.indexOf('/', at) !== slash || before.slice(at, slash) !== after.slice(at, slash)) break;
    at = slash + 1;
  }
  return at === 0 ? `${before} => ${after}` : `${before.slice(0, at)}{${before.slice(at)} => ${after.slice(at)}}`;
}
