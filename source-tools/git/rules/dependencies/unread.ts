import type { Hit } from '../../../../policy/rules/hit';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { isLock, isManifest } from './ecosystems';

/**
 * Manifests, lock files and settings whose format is not read, or not in full: most of them are programs, or refer to other files.
 * A change to one is a finding, whatever it does. All names in lower case.
 */
const NAMES = new Set([
  // Python, Node.js
  ...['setup.py', 'environment.yml', 'environment.yaml', 'conda-lock.yml', 'pixi.toml', 'pixi.lock'],
  ...[
    'pip.conf',
    'uv.toml',
    '.pnpmfile.cjs',
    '.yarnrc',
    'bunfig.toml',
    'package.json5',
    'package.yaml',
    'import_map.json',
  ],
  // Java, Kotlin, Scala, Clojure
  ...['pom.xml', 'gradle.lockfile', 'ivy.xml', 'project.clj', 'deps.edn'],
  ...['libs.versions.toml', 'gradle-wrapper.properties'],
  // .NET
  ...['packages.config', 'directory.packages.props', 'packages.lock.json', 'paket.dependencies', 'paket.lock'],
  'nuget.config',
  // Swift and Objective-C
  ...['package.swift', 'package.resolved', 'podfile', 'podfile.lock', 'cartfile', 'cartfile.resolved'],
  // C and C++
  ...['conanfile.txt', 'conanfile.py', 'conan.lock', 'vcpkg.json', 'vcpkg-configuration.json'],
  // Elixir, Erlang, Gleam
  ...['mix.exs', 'mix.lock', 'rebar.config', 'rebar.lock', 'gleam.toml'],
  // Haskell, OCaml, Dart, Perl, R, Julia
  ...['stack.yaml', 'stack.yaml.lock', 'cabal.project', 'cabal.project.freeze', 'dune-project'],
  ...['pubspec.yaml', 'pubspec_overrides.yaml', 'pubspec.lock', 'cpanfile', 'cpanfile.snapshot', 'renv.lock'],
  ...['project.toml', 'manifest.toml'],
  // Bazel, Nix, Helm
  ...['module.bazel', 'module.bazel.lock', 'workspace.bazel', 'workspace', 'flake.nix', 'flake.lock'],
  ...['chart.yaml', 'chart.lock'],
]);
const ENDINGS = new Set([
  ...['.gradle', '.sbt', '.csproj', '.fsproj', '.vbproj', '.gemspec', '.podspec', '.cabal', '.opam', '.rockspec'],
]);

export function isUnread({ name: { base, lower } }: FileView): boolean {
  return (
    NAMES.has(base) ||
    /(?:^|\/)\.cargo\/config(?:\.toml)?$/.test(lower) ||
    base.endsWith('.gradle.kts') ||
    ENDINGS.has(base.slice(base.lastIndexOf('.')))
  );
}

/** Whether the file says which packages are installed, so that `git_dependency_change` reads it or reports that it cannot. */
export function namesPackages(view: FileView): boolean {
  return isManifest(view) || isLock(view) || isUnread(view);
}

/** The first line that the patch adds to such a file, or takes from it. */
export function unreadHits(view: FileView): Hit[] {
  const line = view.lines('+').find(({ text }) => text.trim() !== '') ?? view.lines('-')[0];
  return line === undefined
    ? []
    : [atLine(view.file, line, 'changes a file that decides what is installed, and that this rule cannot read')];
}
