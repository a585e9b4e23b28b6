import { z } from 'zod';
import type { Hit } from '../../../../policy/rules/hit';
import { pathName } from '../../../../policy/text/glob';
import { shown } from '../../../../policy/text/shown-name';
import { atFile, atLine, gitRule, MODIFIED, patchOf } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { dependencyChanges, type PackageChange } from './changes';
import { folderOf, isLock, isManifest } from './ecosystems';
import type { LockChange } from './locked';
import { folderHits } from './locked-folders';
import { longLines } from './long-lines';
import { foreignHosts, sourceHits } from './sources';
import { toolSettingHits } from './tool-settings';
import { isUnread, namesPackages, unreadHits } from './unread';
import { isOlder } from './versions';

/** Hosts of the public registries, which lock files name for each package. */
const REGISTRIES = [
  ...['registry.npmjs.org', 'registry.yarnpkg.com', 'registry.npmmirror.com', 'jsr.io', 'npm.jsr.io'],
  ...[
    'pypi.org',
    'files.pythonhosted.org',
    'proxy.golang.org',
    'sum.golang.org',
    'index.crates.io',
    'static.crates.io',
  ],
  ...['rubygems.org', 'repo.packagist.org', 'repo.maven.apache.org', 'api.nuget.org', 'nodejs.org'],
];

export const dependencyChange = gitRule({
  name: 'git_dependency_change',
  logicRevision: 14,
  defaultLevel: 'confirm',
  why: 'A dependency runs with all permissions of the program, and a lock file that disagrees with its manifest installs something else.',
  config: z.strictObject({
    registries: z
      .array(z.string().min(1).max(253))
      .max(100)
      .default(REGISTRIES)
      .describe('Hosts that lock files may name. Any other host is a finding.'),
    requireLock: z.boolean().default(true).describe('Whether a manifest and its lock file must change together.'),
  }),
  examples: {
    bad: patchOf('package.json', MODIFIED, [
      '-    "build": "tsc"',
      '+    "build": "tsc",',
      '+    "postinstall": "node setup.js"',
    ]),
    good: patchOf('package.json', MODIFIED, ['-    "build": "tsc"', '+    "build": "tsc -b"']),
  },
  find: ({ files }, { registries, requireLock }) => {
    const deciding = files.filter(namesPackages);
    if (deciding.length === 0) return [];
    const { manifests, locks, withoutLock, withoutManifest } = dependencyChanges(files);
    return [
      ...deciding.flatMap(movedHere),
      ...files.filter(isUnread).flatMap(unreadHits),
      ...files.filter(isManifest).flatMap(sourceHits),
      ...deciding.flatMap(longLines),
      ...files.flatMap(toolSettingHits),
      ...manifests.flatMap(riskyChange),
      ...locks.flatMap(({ view, change }) => [
        ...foreignHosts(view, registries),
        ...folderHits(view),
        ...lockHits(view, change, withoutManifest.includes(view)),
      ]),
      ...(requireLock
        ? withoutLock.map((view) => atFile(view.file, 'its dependencies change, but its lock file does not'))
        : []),
    ];
  },
});

/** A patch does not show the content of a file that is copied, or that is renamed with few changes. */
function movedHere({ file, name }: FileView): Hit[] {
  const { change, oldPath, newPath } = file;
  if (oldPath === null || newPath === null || (change !== 'rename' && change !== 'copy')) return [];
  const old = pathName(oldPath);
  // A package that moves to another folder stays what it is, unless the folder is one above.
  if (change === 'rename' && old.base === name.base && !old.lower.startsWith(folderOf(name.lower))) return [];
  return [atFile(file, `gets the content of ${shown(oldPath)}`)];
}

function riskyChange({ view, line, name, before, after }: PackageChange): Hit[] {
  if (after === null) return [];
  const version = after === '' ? 'without a version' : shown(after);
  if (before === null) return [atLine(view.file, line, `adds the package ${shown(name)} ${version}`)];
  return isOlder(after, before)
    ? [atLine(view.file, line, `takes the package ${shown(name)} back from ${shown(before)} to ${version}`)]
    : [];
}

function lockHits(view: FileView, { added, removed, rehashed, replaced }: LockChange, isAlone: boolean): Hit[] {
  const known = new Set(removed.map(({ name }) => name));
  return [
    ...rehashed.map(({ name, version, line }) =>
      atLine(
        view.file,
        line,
        `the checksum of ${shown(name)} ${shown(version)} changes or is removed, but not its version`,
      ),
    ),
    ...replaced.map(({ name, source, line }) =>
      atLine(view.file, line, `installs the archive of ${shown(source)} as ${shown(name)}`),
    ),
    ...(isAlone ? added : []).flatMap(({ name, version, line }) =>
      known.has(name)
        ? []
        : [
            atLine(
              view.file,
              line,
              `adds the package ${shown(name)} ${shown(version)}, but no manifest changes its dependencies`,
            ),
          ],
    ),
  ];
}

export const dependencyUpdate = gitRule({
  name: 'git_dependency_update',
  logicRevision: 7,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'Another version of a dependency is other code, which nothing in the patch shows.',
  examples: {
    bad: patchOf('package.json', MODIFIED, ['-    "zod": "^4.0.0"', '+    "zod": "^4.1.0"']),
    good: patchOf('package.json', MODIFIED, ['-  "version": "1.0.0"', '+  "version": "1.1.0"']),
  },
  find: ({ files }) => {
    if (!files.some((view) => isManifest(view) || isLock(view))) return [];
    const { manifests, locks } = dependencyChanges(files);
    return [
      ...manifests.flatMap(({ view, line, name, before, after }) => {
        if (before === null) return [];
        const what = after === null ? 'is removed' : `changes from ${shown(before)} to ${shown(after)}`;
        return [atLine(view.file, line, `the package ${shown(name)} ${what}`)];
      }),
      ...locks.flatMap(({ view, change }) => lockedUpdates(view, change)),
    ];
  },
});

function lockedUpdates(view: FileView, { added, removed }: LockChange): Hit[] {
  const before = new Map(removed.map(({ name, version }) => [name, version]));
  return added.flatMap(({ name, version, line }) => {
    const old = before.get(name);
    return old === undefined || old === version
      ? []
      : [atLine(view.file, line, `the package ${shown(name)} changes from ${shown(old)} to ${shown(version)}`)];
  });
}
