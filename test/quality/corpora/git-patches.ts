import { extractGitPatchFacts } from '../../../source-tools/git/facts/extract-git-facts';
import type { GitPatchFacts } from '../../../source-tools/git/facts/git-facts';
import { numstat, summary } from '../../source-tools/git/facts/support/git-output';
import { corpus } from '../../source-tools/sql/rules/support/corpus';
import { verdictOf, type Measure } from '../judged';

interface PatchCase {
  readonly id: string;
  readonly patchB64: string;
  readonly gitNumstat?: string | readonly string[] | null;
  readonly gitSummary?: readonly string[] | null;
  readonly gitError?: string | null;
}

const FILE = 'patches.json';

/** A case passes if git reads the patch and we read the same paths, counts and modes. */
function judgeOne({ id, patchB64, gitNumstat, gitSummary, gitError }: PatchCase) {
  const facts = extractGitPatchFacts(Buffer.from(patchB64, 'base64'));
  const expected = verdictOf(gitError != null);
  if (!facts.ok) return { id, expected, actual: verdictOf(true), what: `refused: ${facts.code}` };
  const { files } = facts as GitPatchFacts;
  const wanted = [gitNumstat ?? [], gitSummary ?? []].flat(2).map((line) => line.trim());
  const read = [...files.map(numstat), ...(gitSummary == null ? [] : files.flatMap(summary))];
  const differs = wanted.filter((line) => line !== '').join('\n') !== read.join('\n');
  return {
    id,
    expected,
    actual: verdictOf(differs && gitError == null),
    what: differs ? 'other paths, counts or modes' : '',
  };
}

export const gitPatches: Measure = {
  name: 'git-patches',
  file: FILE,
  own: false,
  judge: async (folder) => {
    const sets = corpus<Readonly<Record<'unidiff' | 'gitdiff', readonly PatchCase[]>>>(FILE, folder);
    if (sets === null) return null;
    const cases = [...sets.unidiff, ...sets.gitdiff];
    const comparable = cases.filter(({ gitError, gitNumstat }) => gitError != null || gitNumstat != null);
    return { judged: comparable.map(judgeOne), notCompared: cases.length - comparable.length };
  },
};
