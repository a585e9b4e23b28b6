import { z } from 'zod';
import { gitRule, MODIFIED, patchOf } from './define-git-rule';
import { covered, Globs } from './paths';
import { PROTECTED, protectedKind } from './protected-kinds';

export const protectedPaths = gitRule({
  name: 'git_protected_paths',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'A tool executes or obeys these files without being asked, so a change has effects that its lines do not show.',
  config: z.strictObject({
    paths: Globs.default([...PROTECTED]).describe(
      'Globs: * matches within a name, ** across folders. Case is ignored. The default covers files by kind.',
    ),
    also: Globs.default([]).describe('Globs in addition to `paths`, so that you need not repeat the default list.'),
    except: Globs.default([]).describe('Globs of paths to exclude.'),
  }),
  examples: {
    bad: patchOf('.github/workflows/ci.yml', MODIFIED, ['-  timeout-minutes: 5', '+  timeout-minutes: 50']),
    good: patchOf('docs/github/workflows.md', MODIFIED, ['-a', '+b']),
  },
  find: ({ files }, { paths, also, except }) =>
    covered(files, [paths, also], except, (glob) => `is ${protectedKind(glob)}`),
});
