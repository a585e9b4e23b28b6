import type { Hit } from '../../../policy/rules/hit';
import { foldedName, IGNORED, isReadAsGit } from '../facts/names';
import { atFile, gitRule, NEW, patchOf } from './define-git-rule';

export const pathTraversal = gitRule({
  name: 'git_path_traversal',
  logicRevision: 7,
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
  'conin$',
  'conout$',
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

/** An 8.3 name of Windows, such as `GITHUB~1` for `.github`. */
const SHORT_NAME = /^[^.~]{1,6}~[1-9](?:\.[^.]{1,3})?$/;

function segmentProblem(segment: string): string | null {
  if (segment === '') return 'has an empty segment';
  if (segment === '.' || segment === '..') return 'has a "." or ".." segment';
  if (segment.length > MAX_SEGMENT) return 'has a segment that is longer than the maximum name length';
  if (isReadAsGit(segment)) return 'is read as .git on some file systems';
  if (IGNORED.test(segment)) return 'contains a character that some file systems ignore';
  if (segment.endsWith('.') || segment.endsWith(' '))
    return 'has a segment that ends in a dot or a space, which some systems remove';
  if (SHORT_NAME.test(segment)) return 'is the short name of another file on some systems';
  if (segment.includes(':$')) return 'names a data stream of another file on some systems';
  if (DEVICES.has(foldedName(segment).split('.')[0] ?? '')) return 'names a device on some systems';
  return null;
}
