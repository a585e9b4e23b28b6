import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import { atFile, gitRule, MODIFIED, patchOf } from './define-git-rule';
import { GITLINK, SYMLINK, type PatchFile } from '../facts/git-facts';
import { isReadAsGit } from '../facts/names';
import type { FileView } from './patch-view';

export const EXECUTABLE = '100755';
const ORDINARY = new Set(['100644', EXECUTABLE, SYMLINK, GITLINK]);

function modeChange(file: PatchFile): string | null {
  const { change, newMode } = file;
  // A copy is a new file, whatever its source is.
  const oldMode = change === 'copy' ? null : file.oldMode;
  if (change === 'delete') return oldMode === GITLINK ? 'is a submodule that is removed' : null;
  if (newMode === null) return null;
  if (!ORDINARY.has(newMode)) return `has the unusual mode ${newMode}`;
  if (newMode === GITLINK) return 'is a submodule that points to a commit of another repository';
  if (newMode === SYMLINK)
    return oldMode === SYMLINK ? 'is a symbolic link that now points elsewhere' : 'becomes a symbolic link';
  if (oldMode === SYMLINK || oldMode === GITLINK) return `had mode ${oldMode} and becomes a regular file`;
  return newMode === EXECUTABLE && oldMode !== EXECUTABLE ? 'becomes executable' : null;
}

export const mode = gitRule({
  name: 'git_mode',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'Symbolic links, submodules and executable bits change behavior without changing a line of content.',
  examples: {
    bad: patchOf('run.sh', ['old mode 100644', 'new mode 100755']),
    good: patchOf('run.sh', ['old mode 100755', 'new mode 100644']),
  },
  find: ({ files }) => hitsOf(files, ({ file }) => modeChange(file)),
});

/** Hits at the headers of the files that `describe` returns a text for. */
function hitsOf(files: readonly FileView[], describe: (view: FileView) => string | null): Hit[] {
  return files.flatMap((view) => {
    const what = describe(view);
    return what === null ? [] : [atFile(view.file, what)];
  });
}

/** Target of the link as a path from the root of the tree; null if it is outside the tree. */
function resolved(link: string, target: string): string | null {
  if (target === '' || target.startsWith('/') || target.startsWith('~') || target.includes('\\') || target[1] === ':')
    return null;
  const parts = link.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.join('/');
}

function linkProblem(view: FileView): string | null {
  const { file } = view;
  const target = file.binary === null ? view.text('+') : file.binary.text;
  // After a rename or a mode change the target is not in the patch, or is relative to another folder.
  const hasTarget = target !== null && (file.added > 0 || file.binary !== null);
  if (!hasTarget) {
    const isSame = file.binary === null && file.change === 'modify' && file.oldMode === SYMLINK;
    return isSame ? null : 'is a symbolic link whose target is not in the patch';
  }
  const to = resolved(file.path, target);
  if (to === null) return `links outside the tree, to ${shown(target.slice(0, 200))}`;
  return to.split('/').some(isReadAsGit) ? 'links into .git' : null;
}

/** Files below a link that the same patch creates: they would be written through the link. */
function throughLink(files: readonly FileView[], links: readonly FileView[]): Hit[] {
  const folders = new Set(links.flatMap(({ file }) => file.newPath?.toLowerCase() ?? []));
  if (folders.size === 0) return [];
  return files.flatMap(({ file, names }) =>
    names.flatMap(({ lower }) =>
      isBelow(lower, folders) ? [atFile(file, 'is below a symbolic link that the same patch creates')] : [],
    ),
  );
}

function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1))
    if (folders.has(path.slice(0, slash))) return true;
  return false;
}

export const symlinkEscape = gitRule({
  name: 'git_symlink_escape',
  logicRevision: 5,
  defaultLevel: 'forbid',
  why: 'Writing through a symbolic link that leads outside the tree writes to the host.',
  examples: {
    bad: patchOf(
      'assets/logo.svg',
      ['new file mode 120000', 'index 0000000..8c3482d'],
      ['+../../etc/passwd', '\\ No newline at end of file'],
    ),
    good: patchOf(
      'assets/logo.svg',
      ['new file mode 120000', 'index 0000000..8c3482d'],
      ['+../img/logo.svg', '\\ No newline at end of file'],
    ),
  },
  find: ({ files }) => {
    const links = files.filter(({ file }) => file.newMode === SYMLINK);
    if (links.length === 0) return [];
    return [...hitsOf(links, linkProblem), ...throughLink(files, links)];
  },
});

export const binary = gitRule({
  name: 'git_binary',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'Reviewers cannot read base85, and text can be disguised as binary content.',
  examples: {
    bad: 'diff --git a/logo.png b/logo.png\nindex 7832f40..eb9a3c5 100644\nBinary files a/logo.png and b/logo.png differ\n',
    good: patchOf('logo.svg', MODIFIED, ['-<svg/>', '+<svg />']),
  },
  find: ({ files }) =>
    files.flatMap(({ file }): readonly Hit[] => {
      if (file.binary === null) return [];
      const { text, bytes, method } = file.binary;
      if (text !== null && bytes > 0) return [atFile(file, 'is text that is encoded as a binary patch')];
      if (method === 'differs') return [atFile(file, 'is binary, but its content is not in the patch')];
      return [atFile(file, `is binary, ${bytes} bytes`)];
    }),
});
