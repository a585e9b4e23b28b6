import { extractGitPatchFacts } from '../../../../source-tools/git/facts/extract-git-facts';
import type { GitPatchFacts } from '../../../../source-tools/git/facts/git-facts';
import { withCorpus } from '../../sql/rules/support/corpus';
import { numstat, summary } from './support/git-output';

interface PatchCase {
  readonly id: string;
  readonly patchB64: string;
  readonly gitNumstat?: string | readonly string[] | null;
  readonly gitSummary?: readonly string[] | null;
  readonly gitError?: string | null;
}

withCorpus<{ readonly unidiff: readonly PatchCase[]; readonly gitdiff: readonly PatchCase[] }>(
  'patches.json',
  (sets) => {
    const cases = [...sets.unidiff, ...sets.gitdiff];
    const judged = cases.filter((c) => c.gitError != null || c.gitNumstat != null);

    it.each(judged.map((c) => [c.id, c] as const))(
      'agrees with git on %s: the same paths, counts and modes, or a refusal',
      (_, c) => {
        const facts = extractGitPatchFacts(Buffer.from(c.patchB64, 'base64'));
        if (c.gitError != null) {
          expect(facts.ok).toBe(false);
          return;
        }
        expect(facts).toMatchObject({ ok: true });
        const { files } = facts as GitPatchFacts;
        expect(files.map(numstat)).toEqual([c.gitNumstat ?? []].flat());
        if (c.gitSummary != null) {
          const summaryLines = c.gitSummary.map((line) => line.trim()).filter((line) => line !== '');
          expect(files.flatMap(summary)).toEqual(summaryLines);
        }
      },
    );

    it.each(cases.map((c) => [c.id, c] as const))('reads or refuses %s, and never throws', (_, c) => {
      expect(() => extractGitPatchFacts(Buffer.from(c.patchB64, 'base64'))).not.toThrow();
    });
  },
);
