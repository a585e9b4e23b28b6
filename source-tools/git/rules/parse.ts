import { parseRule } from '../../../policy/rules/rule-maker';
import { atFile, atLine, gitRule, MODIFIED, patchOf } from './define-git-rule';
import { GIT_PACK } from '../facts/git-parser';

const good = patchOf('src/a.ts', MODIFIED, ['-one', '+two']);

/** The good example with the byte 0xFF in its added line. */
const NOT_UTF8 = Buffer.from(good.replace('+two', '+\u00ff'), 'latin1').toString('base64');

export const gitParse = parseRule(GIT_PACK, {
  name: 'git_parse',
  logicRevision: 2,
  defaultLevel: 'forbid',
  why: 'A patch that git rejects, or that two tools parse differently, cannot be reviewed.',
  examples: { bad: good.replace('@@ -1 +1 @@', '@@ -1 +1,2 @@'), good },
});

export const gitUnreadable = gitRule({
  name: 'git_unreadable',
  logicRevision: 1,
  defaultLevel: 'confirm',
  why: 'A line that is not valid UTF-8 can look different to people, to the judge and to the compiler, so no rule reads it.',
  examples: { bad: { base64: NOT_UTF8 }, good },
  find: ({ files, notUtf8 }) =>
    notUtf8.map((line) => {
      const at = { startLine: line, startColumn: 1, endLine: line, endColumn: 1 };
      const view = files.find(({ file: { span } }) => span.startLine <= line && line <= span.endLine);
      const found = view?.file.hunks.flatMap((hunk) => hunk.lines).find((one) => one.line === line);
      const what = 'the line is not valid UTF-8';
      if (view === undefined) return { at, what };
      return found === undefined ? { ...atFile(view.file, what), at } : { ...atLine(view.file, found, what), at };
    }),
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
