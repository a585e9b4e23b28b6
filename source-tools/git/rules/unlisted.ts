import { z } from 'zod';
import { coveringGlob, type PathName } from '../../../policy/text/glob';
import type { Hit } from '../../../policy/rules/hit';
import { atFile, gitRule, globs, MODIFIED, NEW, patchOf } from './define-git-rule';
import type { PatchFile } from '../facts/git-facts';
import { namesPackages } from './dependencies/unread';
import { isHidden, unlistedReason } from './listed';
import { isMedia } from './listed/data';
import { nameParts } from './listed/name-parts';
import { EXECUTABLE } from './modes';
import type { FileView } from './patch-view';
import { protectedKind } from './protected-kinds';

/** An allowlist: a person checks a file of a kind that this pack does not know, which a tool may run or obey. */
export const unlistedFile = gitRule({
  name: 'git_unlisted_file',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'Only files of listed kinds, such as modules of programs, tests, documents, translations and styles, may change without a question. Tools run or obey many others without being asked.',
  config: z.strictObject({
    files: globs(1000)
      .default([])
      .describe(
        'Globs of further files that may change without a question: * matches within a name, ** across folders.',
      ),
  }),
  advice: [
    'Check which tools run or obey the file. If such changes are ordinary in your repository, add a glob to `files` of this rule.',
  ],
  examples: {
    bad: patchOf('etc/conf.d/proxy.conf', NEW, ['+upstream = "https://example.net"']),
    good: patchOf('src/proxy/upstream.ts', MODIFIED, ['-a', '+b']),
  },
  find: ({ files }, config) =>
    files.flatMap((view): readonly Hit[] => {
      const names = view.names.filter((name) => !isLeftOut(name, view, config.files));
      const hits = names.flatMap((name): readonly Hit[] => {
        const reason = unlistedReason(name);
        return reason === null ? [] : [hitOf(view.file, name, reason)];
      });
      const content = hits.length === 0 && names.includes(view.name) ? contentReason(view) : null;
      return content === null ? hits : [hitOf(view.file, view.name, content)];
    }),
});

/**
 * Files that the team lists, and those about which `git_protected_paths` and `git_dependency_change` say more. The latter reads
 * the changes to a manifest or a lock file, and not what it means that there is one: an empty `go.mod` hides its folder from
 * the module around it.
 */
function isLeftOut(name: PathName, view: FileView, listed: readonly string[]): boolean {
  if (coveringGlob(listed, name) !== undefined || protectedKind(name) !== undefined) return true;
  return view.file.change === 'modify' && !isHidden(name) && namesPackages(view);
}

function hitOf(file: PatchFile, name: PathName, reason: string): Hit {
  const what = `${reason}, and is not on the list of this rule (${file.change})`;
  return { ...atFile(file, what), file: { path: name.path, line: null } };
}

/** Why the mode or the first line of a file with a listed name says that it is something else. */
function contentReason({ file, name }: FileView): string | null {
  if (file.newMode === EXECUTABLE || file.oldMode === EXECUTABLE) return 'is executable';
  if (startsWithInterpreter(file)) return 'begins with "#!" and the program that runs it';
  return isMedia(nameParts(name)) && file.hunks.length > 0 ? 'is text named like a binary file' : null;
}

/** Whether a line at the start of the file, before or after the change, names the program that runs the file. */
function startsWithInterpreter({ hunks: [first] }: PatchFile): boolean {
  if (first === undefined || (first.oldStart > 1 && first.newStart > 1)) return false;
  const { lines } = first;
  const before = lines.find(({ kind }) => kind !== '+');
  const after = lines.find(({ kind }) => kind !== '-');
  return [before, after].some((line) => line !== undefined && /^#!\s*\//.test(line.text));
}
