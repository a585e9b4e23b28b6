import { z } from 'zod';
import { coveringGlob, type PathName } from '../../../policy/text/glob';
import type { Hit } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { atFile, gitRule, globs, MODIFIED, patchOf } from './define-git-rule';
import type { FileView } from './patch-view';
import { isOrdinaryHidden } from './hidden-files';
import { isDefaultList, PROTECTED, protectedKind } from './protected-kinds';

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
  find: ({ files }, { paths }) => covered(files, [paths], [], (glob) => `is a policy file, by ${shown(glob)}`),
});

type GlobOfName = (list: readonly string[], name: PathName) => string | undefined;

/** Hits for the paths that the lists cover, each by the first glob of the first list that covers it. */
function covered(
  files: readonly FileView[],
  lists: readonly (readonly string[])[],
  except: readonly string[],
  describe: (glob: string) => string,
  globOf: GlobOfName = coveringGlob,
): readonly Hit[] {
  const hits: Hit[] = [];
  for (const { file, names } of files)
    for (const name of names)
      for (const list of lists) {
        const glob = globOf(list, name);
        if (glob === undefined) continue;
        if (coveringGlob(except, name) === undefined)
          hits.push({ ...atFile(file, `${describe(glob)} (${file.change})`), file: { path: name.path, line: null } });
        break;
      }
  return hits;
}

export const protectedPaths = gitRule({
  name: 'git_protected_paths',
  logicRevision: 8,
  defaultLevel: 'confirm',
  why: 'A tool executes or obeys these files without being asked, so a change has effects that its lines do not show.',
  config: z.strictObject({
    paths: Globs.default([...PROTECTED]).describe(
      'Globs: * matches within a name, ** across folders. Case is ignored. The default covers files by kind, and all hidden files but well-known harmless ones.',
    ),
    also: Globs.default([]).describe('Globs in addition to `paths`, so that you need not repeat the default list.'),
    except: Globs.default([]).describe('Globs of paths to exclude.'),
  }),
  examples: {
    bad: patchOf('.github/workflows/ci.yml', MODIFIED, ['-  timeout-minutes: 5', '+  timeout-minutes: 50']),
    good: patchOf('docs/github/workflows.md', MODIFIED, ['-a', '+b']),
  },
  find: ({ files }, { paths, also, except }) => {
    const isDefault = isDefaultList(paths);
    const globOf: GlobOfName = (list, name) => {
      const glob = coveringGlob(list, name);
      const isSpared = glob !== undefined && list === paths && isDefault && isOrdinaryHidden(glob, name);
      return isSpared ? undefined : glob;
    };
    return covered(files, [paths, also], except, (glob) => `is ${protectedKind(glob)}`, globOf);
  },
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
