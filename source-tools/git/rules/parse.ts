import type { Span } from '../../../policy/contracts/facts';
import { parseRule } from '../../../policy/rules/rule-maker';
import { atLine, gitRule, MODIFIED, patchOf } from './define-git-rule';
import { GIT_PACK } from '../facts/git-parser';

const good = patchOf('src/a.ts', MODIFIED, ['-one', '+two']);

/** The good example with the byte 0xFF in its added line. */
const NOT_UTF8 = Buffer.from(good.replace('+two', '+\u00ff'), 'latin1').toString('base64');

export const gitParse = parseRule(GIT_PACK, {
  name: 'git_parse',
  logicRevision: 3,
  defaultLevel: 'forbid',
  why: 'A patch that git rejects, or that two tools parse differently, cannot be reviewed.',
  examples: { bad: good.replace('@@ -1 +1 @@', '@@ -1 +1,2 @@'), good },
});

export const gitUnreadable = gitRule({
  name: 'git_unreadable',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'A line that is not valid UTF-8 can look different to people, to the judge and to the compiler, so no rule reads it.',
  examples: { bad: { base64: NOT_UTF8 }, good },
  find: ({ files, notUtf8 }) => {
    const unreadable = new Set(notUtf8);
    return files.flatMap(({ file }) =>
      file.hunks
        .flatMap(({ lines }) => lines.filter(({ line }) => unreadable.has(line)))
        .map((line) => ({
          ...atLine(file, line, 'the line is not valid UTF-8'),
          at: lineStart(line.line),
        })),
    );
  },
});

export const gitAmbiguous = gitRule({
  name: 'git_ambiguous',
  logicRevision: 3,
  defaultLevel: 'forbid',
  why: 'Git ignores lines outside the counted lines of a hunk, but other tools may treat them as content.',
  examples: { bad: `${good}+three\n`, good: `Two lines of prose.\n\n${good}-- \n2.39.5\n` },
  find: ({ stray }) => stray.map(({ line, what }) => ({ at: lineStart(line), what })),
});

function lineStart(line: number): Span {
  return { startLine: line, startColumn: 1, endLine: line, endColumn: 1 };
}
