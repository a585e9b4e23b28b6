import type { Pack } from '../../policy/rules/pack';
import { defineSourceTool } from '../define';
import { touchedNames } from '../touched-names';
import { commitIdProblem } from './commit-id';
import { commitMessageProblem } from './commit-message';
import { extractGitPatchFacts } from './facts/extract-git-facts';
import { GIT_FACTS, type GitPatchFacts } from './facts/git-facts';
import { GIT_PARSER } from './facts/git-parser';
import { measurePatch } from './facts/measure';
import { normalizedPatch } from './facts/normalized-patch';
import { patchTexts } from './facts/texts';
import { gitRenderer } from './render';
import { gitDiffRules } from './rules';
import { GitSettings } from './staging-settings';
import { patchTitle } from './title';

/** Source tool for unified diffs. */
export const gitPatch = defineSourceTool<GitPatchFacts>({
  sourceTool: 'GitPatch',
  mode: 'enforced',
  parser: GIT_PARSER,
  facts: ({ raw }) => extractGitPatchFacts(raw),
  normalized: ({ raw }) => normalizedPatch(raw),
  texts: patchTexts,
  measure: measurePatch,
  touched: touchedNames,
  title: patchTitle,
  render: gitRenderer,
  factsMembers: GIT_FACTS,
  stagingSettings: GitSettings,
  effectMetadata: {
    members: { message: commitMessageProblem, base_commit: commitIdProblem },
    required: ['base_commit'],
    refused: [
      'author',
      'author_name',
      'author_email',
      'committer',
      'date',
      'trailers',
      'notes',
      'signature',
      'branch',
      'ref',
    ],
  },
  staging: async () => (await import('./staging/index.js')).gitPatchEffects,
});

export const gitPack: Pack = {
  name: 'git-diff',
  about: 'Patches as git reads them: names, modes, sizes, pipelines, tests and dependencies.',
  rules: gitDiffRules,
};

export { gitSecrets } from './rules/secrets';
