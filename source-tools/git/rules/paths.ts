import { z } from 'zod';
import { coveringGlob, type PathName } from '../../../policy/text/glob';
import type { Hit } from '../../../policy/rules/hit';
import { shown } from '../../../policy/text/shown-name';
import { atFile, gitRule, globs, MODIFIED, patchOf } from './define-git-rule';
import type { FileView } from './patch-view';
import { protectedKind } from './protected-kinds';

const Globs = globs(1000);

export const policyChange = gitRule({
  name: 'git_policy_change',
  logicRevision: 6,
  defaultLevel: 'forbid',
  why: 'A policy change must not be approved by the policy that it changes.',
  config: z.strictObject({
    paths: Globs.min(1)
      .default([
        '**/countersign.policy.yaml',
        '**/countersign.policy.yml',
        '**/countersign.policy',
        '**/countersign.policy/**',
      ])
      .describe('Globs of the policy files.'),
  }),
  examples: {
    bad: patchOf('countersign.policy.yaml', MODIFIED, ['-  level: forbid', '+  level: advise']),
    good: patchOf('docs/policy.md', MODIFIED, ['-a', '+b']),
  },
  find: ({ files }, { paths }) =>
    covered(files, [], (name) => {
      const glob = coveringGlob(paths, name);
      return glob === undefined ? undefined : `is a policy file, by ${shown(glob)}`;
    }),
});

/** Hits for the names of files that `describe` returns a text for, unless `except` covers them. */
function covered(
  files: readonly FileView[],
  except: readonly string[],
  describe: (name: PathName) => string | undefined,
): readonly Hit[] {
  const hits: Hit[] = [];
  for (const { file, names } of files)
    for (const name of names) {
      const what = describe(name);
      if (what !== undefined && coveringGlob(except, name) === undefined)
        hits.push({ ...atFile(file, `${what} (${file.change})`), file: { path: name.path, line: null } });
    }
  return hits;
}

export const protectedPaths = gitRule({
  name: 'git_protected_paths',
  logicRevision: 9,
  defaultLevel: 'confirm',
  why: 'A tool executes or obeys these files without being asked, so a change has effects that its lines do not show.',
  config: z.strictObject({
    paths: Globs.nullable()
      .default(null)
      .describe(
        'Globs of the files, instead of the kinds that this version knows: * matches within a name, ** across folders. Case is ignored.',
      ),
    also: Globs.default([]).describe('Globs of further files.'),
    except: Globs.default([]).describe(
      'Globs of paths to exclude. Files of the known kinds are left to this rule, so git_unlisted_file does not ask about them either.',
    ),
  }),
  examples: {
    bad: patchOf('.github/workflows/ci.yml', MODIFIED, ['-  timeout-minutes: 5', '+  timeout-minutes: 50']),
    good: patchOf('docs/github/workflows.md', MODIFIED, ['-a', '+b']),
  },
  find: ({ files }, { paths, also, except }) =>
    covered(files, except, (name) => {
      const kind = paths === null ? protectedKind(name) : undefined;
      if (kind !== undefined) return `is ${kind}`;
      const glob = coveringGlob(paths ?? [], name) ?? coveringGlob(also, name);
      return glob === undefined ? undefined : `is protected by ${shown(glob)}`;
    }),
});

export const pathScope = gitRule({
  name: 'git_path_scope',
  logicRevision: 5,
  defaultLevel: 'forbid',
  why: 'An agent must change only files within its assigned scope.',
  config: z.strictObject({
    allow: Globs.nullable().default(null).describe('Globs of allowed paths; null allows any path.'),
    deny: Globs.default([]).describe('Globs of denied paths; they override `allow`.'),
  }),
  examples: {
    bad: patchOf('billing/invoice.ts', MODIFIED, ['-a', '+b']),
    good: patchOf('docs/a.md', MODIFIED, ['-a', '+b']),
    config: { allow: ['docs/**'] },
  },
  find: ({ files }, { allow, deny }) => {
    if (allow === null && deny.length === 0) return [];
    const hits: Hit[] = [];
    for (const { file, names } of files)
      for (const name of names) {
        if (coveringGlob(deny, name) !== undefined) hits.push(atFile(file, 'is on the deny list'));
        else if (allow !== null && coveringGlob(allow, name) === undefined)
          hits.push(atFile(file, 'is not on the allow list'));
      }
    return hits;
  },
});
