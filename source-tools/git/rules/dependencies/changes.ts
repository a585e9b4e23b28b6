import { memoizeByObject } from '../../../../policy/text/memoize';
import type { PatchLine } from '../../facts/git-facts';
import type { FileView } from '../patch-view';
import { declaredIn, type Declared } from './declared';
import { ecosystemOf, folderOf, isLock, isManifest } from './ecosystems';
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
  /** Lock files that change although no manifest of their workspace does. */
  readonly withoutManifest: readonly FileView[];
}

/** What a patch does to the dependencies, with manifests, catalogues and lock files of a workspace read together. */
export const dependencyChanges = memoizeByObject((files: readonly FileView[]): DependencyChanges => {
  const manifestViews = files.filter(isManifest);
  const lockViews = files.filter(isLock);
  const locks = lockViews.map((view) => ({ view, change: lockChange(view) }));
  const manifests = manifestViews.flatMap(changesIn);
  const changing = new Set(manifests.map(({ view }) => view));
  return {
    manifests: manifests.filter((change) => change.before !== null || !isKnown(change, manifestViews, locks)),
    locks,
    withoutLock: [...changing].filter(
      (view) => ecosystemOf(view) !== null && !lockViews.some((l) => locksFor(l, view)),
    ),
    withoutManifest: lockViews.filter((lock) => !manifestViews.some((view) => locksFor(lock, view))),
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

/** True for a package that the workspace already uses: another manifest names it, or its lock file does not add it. */
function isKnown(
  { view, name }: PackageChange,
  manifests: readonly FileView[],
  locks: DependencyChanges['locks'],
): boolean {
  const ecosystem = ecosystemOf(view);
  const isNamedElsewhere = manifests.some(
    (other) =>
      ecosystemOf(other) === ecosystem &&
      (['-', ' '] as const).some((kind) => declaredIn(other, kind).some((one) => one.name === name)),
  );
  if (isNamedElsewhere) return true;
  const own = locks.filter((lock) => locksFor(lock.view, view));
  return own.length > 0 && !own.some(({ change }) => change.added.some((one) => isSameName(one.name, name)));
}

/** Python names ignore case and the kind of separator (PEP 503). */
function isSameName(a: string, b: string): boolean {
  return a === b || a.toLowerCase().replaceAll('_', '-') === b.toLowerCase().replaceAll('_', '-');
}

/** Whether a lock file belongs to a manifest: same package manager, and one is in a folder above the other. */
function locksFor(lock: FileView, manifest: FileView): boolean {
  const ecosystem = ecosystemOf(lock);
  if (ecosystem === null || ecosystem !== ecosystemOf(manifest)) return false;
  return folderOf(manifest.name.lower).startsWith(folderOf(lock.name.lower));
}
