import { extractGitPatchFacts } from '../../../../source-tools/git/facts/extract-git-facts';
import { withCorpus } from '../../sql/rules/support/corpus';

interface PatchCase {
  readonly id: string;
  readonly patchB64: string;
}

withCorpus<{ readonly unidiff: readonly PatchCase[]; readonly gitdiff: readonly PatchCase[] }>(
  'patches.json',
  (sets) => {
    const cases = [...sets.unidiff, ...sets.gitdiff];
    it.each(cases.map((c) => [c.id, c] as const))('reads or refuses %s, and never throws', (_, c) => {
      expect(() => extractGitPatchFacts(Buffer.from(c.patchB64, 'base64'))).not.toThrow();
    });
  },
);
