import { counted } from '../../policy/text/counted';
import { shown } from '../../policy/text/shown-name';
import type { GitPatchFacts } from './facts/git-facts';

/** `git: 3 files, +40 −2`; a patch of one file names it. */
export function patchTitle({ files }: GitPatchFacts): string {
  const [first] = files;
  const what =
    first !== undefined && files.length === 1
      ? `${VERBS[first.change]}${pathText(first.path)}`
      : counted(files.length, 'file');
  const sum = (side: 'added' | 'removed'): number => files.reduce((total, file) => total + file[side], 0);
  return `git: ${what}, +${sum('added')} \u2212${sum('removed')}`;
}

const VERBS = { add: 'add ', delete: 'delete ', modify: '', rename: 'rename to ', copy: 'copy to ' } as const;
const MAX_PATH = 80;

/** The end of a long path, which names the file. */
function pathText(path: string): string {
  const cut = path.length > MAX_PATH ? `…${path.slice(-MAX_PATH)}` : path;
  return /^[A-Za-z0-9_./@+…-]+$/.test(cut) ? cut : shown(cut);
}
