import type { Hit } from '../../../../policy/rules/hit';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { isLock, isManifest } from './ecosystems';

/** Longest line of a manifest that is read. */
export const MAX_LINE = 1000;
/** Longest line of a lock file that is read: some name all dependencies of a package in one line. */
export const MAX_LOCK_LINE = 5000;

/** Added lines that are too long to be read, for example because spaces or a comment follow the name of a package. */
export function longLines(view: FileView): Hit[] {
  const most = isLock(view) ? MAX_LOCK_LINE : isManifest(view) ? MAX_LINE : Infinity;
  return view
    .lines('+')
    .filter(({ text }) => text.length > most)
    .map((line) => atLine(view.file, line, `has more than ${most} characters, which this rule does not read`));
}
