import { z } from 'zod';
import { coveringGlob } from '../../../policy/text/glob';
import type { Hit } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { foldedName, IGNORED, isReadAsGit } from '../facts/names';
import { atFile, gitRule, globs, MODIFIED, NEW, patchOf } from './define-git-rule';
import type { FileView } from './patch-view';
import { PROTECTED, protectedKind } from './protected-kinds';

const Globs = globs(1000);

export const pathTraversal = gitRule({
  name: 'git_path_traversal',
  logicRevision: 5,
  defaultLevel: 'forbid',
  why: 'A path that leaves the tree, or that a file system reads as .git, writes to a place that was not reviewed.',
  examples: {
    bad: patchOf('docs/../../.ssh/authorized_keys', NEW, ['+key']),
    good: patchOf('docs/..notes/.gitkeep', NEW, ['+x']),
  },
  find: ({ files }) => {
    const hits: Hit[] = [];
    for (const { file, names } of files)
      for (const { path } of names) {
        const why = pathProblem(path);
        if (why !== null) hits.push({ ...atFile(file, why), file: { path: path.slice(0, 300), line: null } });
      }
    return hits;
  },
});

const MAX_PATH = 4096;
const MAX_SEGMENT = 255;
/** Device names on Windows, reserved with any extension. */
const DEVICES = new Set([
  'con',
  'prn',
  'aux',
  'nul',
  ...Array.from({ length: 9 }, (_, i) => [`com${i + 1}`, `lpt${i + 1}`]).flat(),
]);

/** Why a path is unsafe on one of the file systems it may be written to; null if it is an ordinary path below the root. */
function pathProblem(path: string): string | null {
  if (path.length > MAX_PATH) return 'is longer than the maximum path length';
  if (isPlain(path)) return null;
  if (path.startsWith('/') || path.startsWith('~')) return 'is not below the root of the tree';
  if (path[1] === ':') return 'begins with a drive letter';
  if (path.includes('\\')) return 'contains a backslash, which some systems read as a slash';
  for (let i = 0; i < path.length; i++) {
    const code = path.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return 'contains a control character';
  }
  for (const segment of path.split('/')) {
    const why = segmentProblem(segment);
    if (why !== null) return why;
  }
  return null;
}

/**
 * Fast path for most paths: segments of ASCII letters, digits, `_`, `-` and inner dots that are not device names. The other
 * checks accept every such path.
 */
function isPlain(path: string): boolean {
  let start = 0;
  let dot = -1;
  for (let i = 0; i <= path.length; i++) {
    const code = i === path.length ? SLASH : path.charCodeAt(i);
    if (code === SLASH) {
      if (i === start || i - start > MAX_SEGMENT || path.charCodeAt(i - 1) === DOT) return false;
      const stem = dot === -1 ? i : dot;
      if (stem - start <= 4 && DEVICES.has(path.slice(start, stem).toLowerCase())) return false;
      start = i + 1;
      dot = -1;
    } else if (code === DOT) {
      if (i === start) return false;
      if (dot === -1) dot = i;
    } else if (!isWordCharacter(code)) return false;
  }
  return true;
}

const SLASH = 0x2f;
const DOT = 0x2e;

function isWordCharacter(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2d ||
    code === 0x5f
  );
}

function segmentProblem(segment: string): string | null {
  if (segment === '') return 'has an empty segment';
  if (segment === '.' || segment === '..') return 'has a "." or ".." segment';
  if (segment.length > MAX_SEGMENT) return 'has a segment that is longer than the maximum name length';
  if (isReadAsGit(segment)) return 'is read as .git on some file systems';
  if (IGNORED.test(segment)) return 'contains a character that some file systems ignore';
  if (segment.endsWith('.') || segment.endsWith(' '))
    return 'has a segment that ends in a dot or a space, which some systems remove';
  if (DEVICES.has(foldedName(segment).split('.')[0] ?? '')) return 'names a device on some systems';
  return null;
}

export const policyChange = gitRule({
  name: 'git_policy_change',
  logicRevision: 4,
  defaultLevel: 'forbid',
  why: 'A policy change must not be approved by the policy that it changes.',
  config: z.strictObject({
    paths: Globs.min(1)
      .default(['**/countersign.policy.yaml', '**/countersign.policy.yml', '**/countersign.policy/**'])
      .describe('Globs of the policy files.'),
  }),
  examples: {
    bad: patchOf('countersign.policy.yaml', MODIFIED, ['-  level: forbid', '+  level: advise']),
    good: patchOf('docs/policy.md', MODIFIED, ['-a', '+b']),
  },
  find: ({ files }, { paths }) => covered(files, [paths], [], (glob) => `is a policy file, by ${shown(glob)}`),
});

/** Hits for the paths that the lists cover, each by the first glob of the first list that covers it. */
function covered(
  files: readonly FileView[],
  lists: readonly (readonly string[])[],
  except: readonly string[],
  describe: (glob: string) => string,
): readonly Hit[] {
  const hits: Hit[] = [];
  for (const { file, names } of files)
    for (const name of names)
      for (const list of lists) {
        const glob = coveringGlob(list, name);
        if (glob === undefined) continue;
        if (coveringGlob(except, name) === undefined)
          hits.push({ ...atFile(file, `${describe(glob)} (${file.change})`), file: { path: name.path, line: null } });
        break;
      }
  return hits;
}

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

export const pathScope = gitRule({
  name: 'git_path_scope',
  logicRevision: 4,
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
