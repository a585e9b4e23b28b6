import { noConfig, parseRule } from '../../../policy/rules/rule-maker';
import { gitRule, MODIFIED, patchOf } from './define-git-rule';
import { GIT_PACK } from '../facts/git-parser';

const good = patchOf('src/a.ts', MODIFIED, ['-one', '+two']);

export const gitParse = parseRule(GIT_PACK, {
  name: 'git_parse',
  logicRevision: 1,
  defaultLevel: 'forbid',
  why: 'A patch that git would not read, or that two readers read in two ways, cannot have been reviewed.',
  examples: { bad: good.replace('@@ -1 +1 @@', '@@ -1 +1,2 @@'), good },
});

export const gitAmbiguous = gitRule({
  name: 'git_ambiguous',
  logicRevision: 1,
  defaultLevel: 'forbid',
  why: 'Lines that no hunk counts are prose to git and content to other tools.',
  config: noConfig,
  examples: { bad: `${good}+three\n`, good: `Two lines of prose.\n\n${good}-- \n2.39.5\n` },
  find: ({ stray }) =>
    stray.map(({ line, what }) => ({
      at: { startLine: line, startColumn: 1, endLine: line, endColumn: 1 },
      what,
    })),
});
