import { z } from 'zod';
import { linePattern, describeLine, wordsOf } from '../../../policy/text/line-patterns';
import type { Hit } from '../../../policy/rules/rule-maker';
import { shown } from '../../../policy/text/shown-name';
import { addedHits, atFile, atLine, gitRule, MODIFIED, patchOf } from './define-git-rule';
import type { FileView } from './patch-view';

/** Manifest names and the lock file names that belong to them, in lower case. */
interface Ecosystem {
  readonly manifests: readonly string[];
  readonly locks: readonly string[];
}

const ECOSYSTEMS: readonly Ecosystem[] = [
  {
    manifests: ['package.json'],
    locks: ['package-lock.json', 'yarn.lock', 'pnpm-lock.yaml', 'npm-shrinkwrap.json', 'bun.lock'],
  },
  { manifests: ['pyproject.toml', 'pipfile'], locks: ['poetry.lock', 'pipfile.lock', 'uv.lock', 'pdm.lock'] },
  { manifests: ['go.mod'], locks: ['go.sum'] },
  { manifests: ['cargo.toml'], locks: ['cargo.lock'] },
  { manifests: ['gemfile'], locks: ['gemfile.lock'] },
  { manifests: ['composer.json'], locks: ['composer.lock'] },
];
const MANIFESTS = new Set([
  ...ECOSYSTEMS.flatMap((e) => e.manifests),
  'requirements.txt',
  'setup.py',
  'setup.cfg',
  'build.gradle',
  'pom.xml',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  'pip.conf',
  '.pypirc',
]);
const LOCKS = new Set(ECOSYSTEMS.flatMap((e) => e.locks));
const ECOSYSTEM_OF: ReadonlyMap<string, Ecosystem> = new Map(
  ECOSYSTEMS.flatMap((e) => [...e.manifests, ...e.locks].map((base) => [base, e])),
);

/** Folder of a path with its trailing slash; empty at the root. */
function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

function isManifest(base: string): boolean {
  return MANIFESTS.has(base) || (base.startsWith('requirements') && base.endsWith('.txt'));
}

const SOURCES = [
  linePattern(
    'installs a package from git',
    ['git+', 'git:', 'github:', 'gitlab:', 'bitbucket:', 'git =', 'git=', ':git', 'git@', '.git"', "git'"],
    String.raw`\bgit\+(?:https?|ssh|file):|"(?:git|github|gitlab|bitbucket|gist):|\bgit\s*=\s*"|:git\s*=>|"git@|[/:][\w.-]+\.git(?:["'#@]|$)`,
  ),
  linePattern(
    'installs a package from a URL',
    ['http:', 'https:', 'ftp:'],
    String.raw`"[\w@/.-]+"\s*:\s*"https?://|\s@\s+https?://|^\s*(?:-e\s+)?https?://|\burl\s*=\s*"https?://`,
  ),
  linePattern(
    'installs a package from a local folder',
    ['file:', 'link:', 'path =', 'path='],
    String.raw`"(?:file|link|portal):|\bpath\s*=\s*"\.\.`,
  ),
  linePattern(
    'installs packages from another registry',
    ['registry', 'index-url', 'find-links', 'trusted-host', 'index_url', 'source'],
    String.raw`\bregistry\s*=|"registry"\s*:|--?(?:extra-)?index-url\b|\bindex[-_]url\s*=|--?find-links\b|--?trusted-host\b|\bnpmregistryserver\s*:|^\s*source\s+["']|\[\[tool\.\w+\.(?:source|index)`,
  ),
  linePattern(
    'replaces a package',
    ['replace', '[patch', '"overrides"', '"resolutions"'],
    String.raw`^\s*replace\b|=>\s*\S|^\s*\[patch|"(?:overrides|resolutions)"\s*:`,
  ),
  linePattern('accepts any version', ['"*"', '"latest"', ':latest'], String.raw`"[\w@/.-]+"\s*:\s*"(?:\*|latest|x)"`),
];

const SCRIPTS = [
  linePattern(
    'runs a script on installation',
    ['install', 'prepare', 'prepublish', 'preprepare', 'postprepare'],
    String.raw`"(?:pre|post)?(?:install|prepare)"\s*:|"prepublish"\s*:|"uninstall"\s*:`,
  ),
];

const IN_PACKAGE_JSON = [...SCRIPTS, ...SOURCES];
const [WORDS, WORDS_IN_PACKAGE_JSON] = [wordsOf(SOURCES), wordsOf(IN_PACKAGE_JSON)];

export const dependencyChange = gitRule({
  name: 'git_dependency_change',
  logicRevision: 3,
  defaultLevel: 'confirm',
  why: 'A dependency runs with all permissions of the program, and a lock file that disagrees with its manifest installs something else.',
  config: z.strictObject({
    registries: z
      .array(z.string().min(1).max(253))
      .max(100)
      .default([])
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
  find: ({ files }, { registries, requireLock }) => [
    ...files.flatMap((view): readonly Hit[] => {
      const { base } = view.name;
      if (LOCKS.has(base)) return foreignHosts(view, registries);
      if (!isManifest(base)) return [];
      return base === 'package.json'
        ? addedHits(view, WORDS_IN_PACKAGE_JSON, (text) => describeLine(IN_PACKAGE_JSON, text))
        : addedHits(view, WORDS, (text) => describeLine(SOURCES, text));
    }),
    ...(requireLock ? mismatchedLocks(files) : []),
  ],
});

/** Added lines with `https://host/…` whose host is not listed in `registries`. */
function foreignHosts(view: FileView, registries: readonly string[]): Hit[] {
  const known = new Set(registries.map((host) => host.toLowerCase()));
  return view.lines('+').flatMap((line) => {
    const at = line.text.indexOf('://');
    if (at === -1) return [];
    const rest = line.text.slice(at + 3, at + 300);
    let end = 0;
    while (end < rest.length && !'/"\'?#: '.includes(rest[end] as string)) end++;
    const host = rest.slice(rest.lastIndexOf('@', end) + 1, end).toLowerCase();
    const before = line.text.slice(Math.max(0, at - 30), at).toLowerCase();
    const isHomepage = before.includes('"url": "') || line.text.includes('"funding"') || line.text.includes('homepage');
    if (known.has(host) && !before.includes('git+')) return [];
    return isHomepage ? [] : [atLine(view.file, line, `names the host ${shown(host)}`)];
  });
}

/** A manifest's dependencies without its lock file, or a lock file without the manifest. */
function mismatchedLocks(files: readonly FileView[]): Hit[] {
  const concerned = files.filter(({ name }) => ECOSYSTEM_OF.has(name.base));
  if (concerned.length === 0) return [];
  /** Each path once, because a patch may list the same file twice. */
  const changed = [...new Map(concerned.map(({ name }) => [name.lower, name])).values()];
  return concerned.flatMap((view): readonly Hit[] => {
    const { base, lower } = view.name;
    const folder = folderOf(lower);
    const ecosystem = ECOSYSTEM_OF.get(base) as Ecosystem;
    if (ecosystem.locks.includes(base)) {
      // In a workspace the lock file is in a folder above the manifest.
      const manifest = changed.some(
        (other) => other.lower.startsWith(folder) && ecosystem.manifests.includes(other.base),
      );
      return manifest ? [] : [atFile(view.file, 'the lock file changes, but no manifest does')];
    }
    if (!changesVersions(view)) return [];
    const lock = changed.some(
      (other) => ecosystem.locks.includes(other.base) && folder.startsWith(folderOf(other.lower)),
    );
    return lock ? [] : [atFile(view.file, 'its dependencies change, but its lock file does not')];
  });
}

const VERSION = linePattern(
  'names a version',
  ['"', '=', ' v'],
  String.raw`^\s*"[@\w./-]+"\s*:\s*"[\^~<>=]{0,2}\s?v?\d+(?:\.\d+|\.x|\.\*)|^\s*[\w.-]+\s*=\s*(?:"[\^~<>=]{0,2}\s?\d|\{\s*version)|^\s*(?:require\s+)?[\w./-]+\s+v\d|^\s*gem\s+["']|["'][\w.-]+(?:\[[\w,-]+\])?\s?(?:[<>=~!]=?)\s?\d`,
);
const OWN_VERSION = linePattern(
  'is the version of the package itself',
  ['version', 'node', 'go ', 'engines'],
  String.raw`^\s*"?(?:version|node|npm|edition|rust-version|requires-python)"?\s*[:=]|^\s*go\s+\d`,
);

const VERSION_WORDS = wordsOf([VERSION]);

function changesVersions(view: FileView): boolean {
  const texts = (kind: '+' | '-'): string[] =>
    !view.contains(kind, VERSION_WORDS)
      ? []
      : view
          .lines(kind)
          .flatMap((line) =>
            describeLine([VERSION], line.text) !== null && describeLine([OWN_VERSION], line.text) === null
              ? [line.text.trim().replace(/,$/, '')]
              : [],
          );
  const [added, removed] = [texts('+').sort(), texts('-').sort()];
  return added.join('\n') !== removed.join('\n');
}
