import { parseRule } from '../../../policy/rules/rule-maker';
import { gitRule, MODIFIED, patchOf } from './define-git-rule';
import { GIT_PACK } from '../facts/git-parser';

const good = patchOf('src/a.ts', MODIFIED, ['-one', '+two']);

export const gitParse = parseRule(GIT_PACK, {
  name: 'git_parse',
  logicRevision: 2,
  defaultLevel: 'forbid',
  why: 'A patch that git rejects, or that two tools parse differently, cannot be reviewed.',
  examples: { bad: good.replace('@@ -1 +1 @@', '@@ -1 +1,2 @@'), good },
});

export const gitAmbiguous = gitRule({
  name: 'git_ambiguous',
  logicRevision: 2,
  defaultLevel: 'forbid',
  why: 'Git ignores lines outside the counted lines of a hunk, but other tools may treat them as content.',
  examples: { bad: `${good}+three\n`, good: `Two lines of prose.\n\n${good}-- \n2.39.5\n` },
  find: ({ stray }) =>
    stray.map(({ line, what }) => ({
      at: { startLine: line, startColumn: 1, endLine: line, endColumn: 1 },
      what,
    })),
});
