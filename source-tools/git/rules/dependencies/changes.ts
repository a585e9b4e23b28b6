import { memoizeByObject } from '../../../../policy/text/memoize';
import type { PatchLine } from '../../facts/git-facts';
import type { FileView } from '../patch-view';
import { declaredIn, type Declared } from './declared';
import { ecosystemOf, folderOf, isLock, isManifest, type Ecosystem } from './ecosystems';
import { lockChange, type LockChange } from './locked';

/** A package that a patch adds, updates or removes in one file. A null version: the package is not required there. */
export interface PackageChange {
  readonly view: FileView;
  readonly line: PatchLine;
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface DependencyChanges {
  readonly manifests: readonly PackageChange[];
  readonly locks: readonly { readonly view: FileView; readonly change: LockChange }[];
  /** Manifests whose third-party packages change although no lock file of their workspace does. */
  readonly withoutLock: readonly FileView[];
  /** Lock files that change although no manifest of their workspace is new or changes its dependencies. */
  readonly withoutManifest: readonly FileView[];
}

/** What a patch does to the dependencies, with manifests, catalogues and lock files of a workspace read together. */
export const dependencyChanges = memoizeByObject((files: readonly FileView[]): DependencyChanges => {
  const manifestViews = files.filter(isManifest);
  const locks: DependencyChanges['locks'] = files.filter(isLock).map((view) => ({ view, change: lockChange(view) }));
  const manifests = manifestViews.flatMap(changesIn);
  const changing = new Set(manifests.map(({ view }) => view));
  const locksOf = lockFinder(locks);
  const isKnown = knownPackages(manifestViews, locksOf);
  const explained = new Set(
    manifestViews
      .filter((view) => changing.has(view) || view.file.change !== 'modify')
      .flatMap((view) => locksOf(view)),
  );
  return {
    manifests: manifests.filter((change) => change.before !== null || !isKnown(change)),
    locks,
    withoutLock: [...changing].filter((view) => ecosystemOf(view) !== null && locksOf(view).length === 0),
    withoutManifest: locks.filter((lock) => !explained.has(lock)).map(({ view }) => view),
  };
});

function changesIn(view: FileView): PackageChange[] {
  const [added, removed] = [byName(declaredIn(view, '+')), byName(declaredIn(view, '-'))];
  const changes: PackageChange[] = [];
  for (const [name, now] of added) {
    const before = removed.get(name);
    if (before?.version !== now.version)
      changes.push({ view, line: now.line, name, before: before?.version ?? null, after: now.version });
  }
  for (const [name, { line, version }] of removed)
    if (!added.has(name)) changes.push({ view, line, name, before: version, after: null });
  return changes;
}

function byName(declared: readonly Declared[]): Map<string, Declared> {
  return new Map(declared.map((one) => [one.name, one]));
}

/**
 * Whether the workspace already uses a package: another manifest names it, or its lock file names it in an added line (for the
 * manifest that now requires it) but does not add it. Indexed by name, so that the cost does not grow with the square of the patch.
 */
function knownPackages(manifests: readonly FileView[], locksOf: LocksOf): (change: PackageChange) => boolean {
  const named = new Map<Ecosystem | null, Set<string>>();
  for (const view of manifests) {
    const names = named.get(ecosystemOf(view)) ?? new Set();
    for (const kind of ['-', ' '] as const) for (const { name } of declaredIn(view, kind)) names.add(name);
    named.set(ecosystemOf(view), names);
  }
  const lockedBy = new Map(
    manifests.map((view) => {
      return [
        view,
        locksOf(view).map(({ view: lock, change }) => ({ names: namesIn(lock), added: addedNames(change) })),
      ] as const;
    }),
  );
  return ({ view, name }) => {
    if (named.get(ecosystemOf(view))?.has(name) === true) return true;
    const own = lockedBy.get(view) ?? [];
    const key = comparable(name);
    return own.some(({ names }) => names.has(key)) && !own.some(({ added }) => added.has(key));
  };
}

const addedNames = memoizeByObject(
  ({ added }: LockChange): ReadonlySet<string> => new Set(added.map(({ name }) => comparable(name))),
);

/** All that may be the name of a package in the added lines of a lock file. */
const namesIn = memoizeByObject(
  (lock: FileView): ReadonlySet<string> =>
    new Set(
      lock
        .text('+')
        .match(/@?[\w.-]+(?:\/[\w.-]+)*/g)
        ?.map(comparable),
    ),
);

/** Python names ignore case and the kind of separator (PEP 503). */
function comparable(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

type LocksOf = (manifest: FileView) => DependencyChanges['locks'];

/** The lock files of a manifest: those of its package manager in its folder and in the folders above. */
function lockFinder(locks: DependencyChanges['locks']): LocksOf {
  const byFolder = new Map<Ecosystem | null, Map<string, DependencyChanges['locks'][number][]>>();
  for (const lock of locks) {
    const ecosystem = ecosystemOf(lock.view);
    const folders = byFolder.get(ecosystem) ?? new Map<string, DependencyChanges['locks'][number][]>();
    byFolder.set(ecosystem, folders);
    const folder = folderOf(lock.view.name.lower);
    const inFolder = folders.get(folder) ?? [];
    inFolder.push(lock);
    folders.set(folder, inFolder);
  }
  return (manifest) => {
    const folders = byFolder.get(ecosystemOf(manifest));
    return folders === undefined
      ? []
      : foldersAbove(manifest.name.lower).flatMap((folder) => folders.get(folder) ?? []);
  };
}

/** The folder of a path and all above it, with a trailing slash; the root is empty. */
function foldersAbove(path: string): string[] {
  const folders = [''];
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1))
    folders.push(path.slice(0, slash + 1));
  return folders;
}
