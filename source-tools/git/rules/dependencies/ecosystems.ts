import type { PathName } from '../../../../policy/text/glob';
import type { FileView } from '../patch-view';

/** The package managers that share manifests and lock files. All names in lower case. */
export interface Ecosystem {
  readonly name: string;
  readonly manifests: readonly string[];
  /** Files that state versions for all packages of a workspace: the catalogues of pnpm, `go.work`. */
  readonly workspaces: readonly string[];
  readonly locks: readonly string[];
}

const ECOSYSTEMS: readonly Ecosystem[] = [
  {
    name: 'npm',
    manifests: ['package.json', 'package.json5', 'package.yaml', 'deno.json', 'deno.jsonc', 'jsr.json'],
    workspaces: ['pnpm-workspace.yaml', '.yarnrc.yml'],
    locks: ['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'deno.lock'],
  },
  {
    name: 'python',
    manifests: ['pyproject.toml', 'pipfile', 'setup.cfg'],
    workspaces: [],
    locks: ['poetry.lock', 'pipfile.lock', 'uv.lock', 'pdm.lock', 'pylock.toml'],
  },
  { name: 'go', manifests: ['go.mod'], workspaces: ['go.work'], locks: ['go.sum', 'go.work.sum'] },
  { name: 'cargo', manifests: ['cargo.toml'], workspaces: [], locks: ['cargo.lock'] },
  { name: 'ruby', manifests: ['gemfile', 'gems.rb'], workspaces: [], locks: ['gemfile.lock', 'gems.locked'] },
  { name: 'composer', manifests: ['composer.json'], workspaces: [], locks: ['composer.lock'] },
];

/** Manifests without a lock file that are read, and the configuration of package managers. */
const UNLOCKED = new Set([
  ...['libs.versions.toml', '.npmrc', '.yarnrc', 'bunfig.toml', 'pip.conf', '.pypirc', 'nuget.config'],
]);

const BY_FILE: ReadonlyMap<string, Ecosystem> = new Map(
  ECOSYSTEMS.flatMap((e) => [...e.manifests, ...e.workspaces, ...e.locks].map((base) => [base, e] as const)),
);

export function ecosystemOf({ name }: FileView): Ecosystem | null {
  return BY_FILE.get(name.base) ?? null;
}

export function isLock(view: FileView): boolean {
  return ecosystemOf(view)?.locks.includes(view.name.base) === true;
}

export function isManifest(view: FileView): boolean {
  const { base } = view.name;
  if (UNLOCKED.has(base) || isRequirements(view.name)) return true;
  return ecosystemOf(view) !== null && !isLock(view);
}

const REQUIREMENTS = /(?:requirements[^/]*|(?:^|\/)(?:requirements\/[^/]+|constraints[^/]*))\.(?:txt|in)$/;

/** `requirements.txt`, `dev-requirements.in`, `requirements/dev.txt`, `constraints.txt`. */
export function isRequirements({ lower }: PathName): boolean {
  return REQUIREMENTS.test(lower);
}

/** Manifests whose packages all state their registry: `npm:name@range`. */
export function isDeno({ name: { base } }: FileView): boolean {
  return base.startsWith('deno.json') || base === 'jsr.json';
}

/** Files of settings, most of which name registries or decide what runs on installation. */
export function isSettings({ name: { base } }: FileView): boolean {
  return UNLOCKED.has(base) || base === '.yarnrc.yml';
}

/** Folder of a path with its trailing slash; empty at the root. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}
