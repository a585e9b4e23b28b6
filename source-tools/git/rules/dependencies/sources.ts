import { linePattern, describeLine, type LinePattern } from '../../../../policy/text/line-patterns';
import type { Hit } from '../../../../policy/rules/rule-maker';
import { shown } from '../../../../policy/text/shown-name';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { withoutEscapes } from './json-escapes';

const SOURCES = [
  linePattern(
    'installs a package from git',
    ['git', 'bitbucket:', 'gist:'],
    String.raw`\bgit\+(?:https?|ssh|file):|"(?:git|github|gitlab|bitbucket|gist):|\bgit\s*=\s*"|:git\s*=>|\b(?:git|github|gitlab|bitbucket|gist):\s*["']|"git@|[/:][\w.-]+\.git(?:["'#@]|$)`,
  ),
  linePattern(
    'installs a package from a URL',
    ['http:', 'https:', 'ftp:'],
    String.raw`"[\w@/.-]+"\s*:\s*"(?:[\w@/.-]{1,200}@)?https?://|\s@\s+https?://|^\s*(?:-e\s+)?https?://|\burl\s*=\s*"https?://`,
  ),
  linePattern(
    'installs a package from a local folder',
    ['file:', 'link:', 'portal:', 'path'],
    String.raw`"(?:file|link|portal):|\bpath\s*=\s*"\.\.`,
  ),
  linePattern(
    'installs packages from another registry',
    ['registry', 'registries', 'index-url', 'find-links', 'trusted-host', 'index_url', 'source', 'index'],
    String.raw`(?:^|[\s{,])registry\s*=|"registry"\s*:|--?(?:extra-)?index-url\b|\bindex[-_]url\s*=|--?find-links\b|--?trusted-host\b|\bnpmregistryserver\s*:|^\s*registr(?:y|ies)\s*:|^\s*source\s+["']|\bsource:\s*["']|\[\[tool\.\w+\.(?:source|index)`,
  ),
  linePattern(
    'replaces a package',
    ['replace', '[patch', '"overrides"', '"resolutions"'],
    String.raw`^\s*replace\b|=>\s*\S|^\s*\[patch|"(?:overrides|resolutions)"\s*(?::|$)`,
  ),
  linePattern(
    'lets packages run scripts on installation',
    ['onlybuiltdependencies', 'allowbuilds', 'dangerouslyallowallbuilds', 'trusteddependencies', 'enablescripts'],
    String.raw`\b(?:onlybuiltdependencies\w*|allowbuilds|dangerouslyallowallbuilds|trusteddependencies|enablescripts)["']?\s*(?::|$)`,
  ),
  linePattern(
    'names code that a build runs',
    ['build', 'backend-path'],
    String.raw`^\s*(?:build-backend|backend-path)\s*=|^\s*build\s*=\s*["']`,
  ),
  linePattern('accepts any version', ['"*"', '"latest"'], String.raw`"[\w@/.-]+"\s*:\s*"(?:\*|latest)"`),
];

const ALIASES = [
  linePattern(
    'installs a package under another name',
    ['npm:', 'package'],
    String.raw`["']?[\w@/.-]+["']?\s*:\s*["']?npm:|\{[^}]*\bpackage\s*=\s*"`,
  ),
];

const SCRIPTS = [
  linePattern(
    'runs a script on installation',
    ['install', 'prepare', 'prepublish', 'preprepare', 'postprepare'],
    String.raw`"(?:(?:pre|post)?(?:install|prepare)|prepublish|uninstall)"\s*(?::|$)`,
  ),
];

/** Deno names each npm package this way. */
const WITHOUT_ALIASES = new Set(['deno.json', 'deno.jsonc', 'jsr.json']);

function patternsFor(base: string): readonly LinePattern[] {
  if (WITHOUT_ALIASES.has(base)) return SOURCES;
  return base === 'package.json' ? IN_PACKAGE_JSON : OTHERWISE;
}

const OTHERWISE = [...SOURCES, ...ALIASES];
const IN_PACKAGE_JSON = [...SCRIPTS, ...OTHERWISE];

/** Added lines of a manifest that install code from another place than the registry, or run a script on installation. */
export function sourceHits(view: FileView): Hit[] {
  const patterns = patternsFor(view.name.base);
  let before = '';
  return view.lines('+').flatMap((line) => {
    // In JSON, a name and its value can be in different lines.
    const text = `${before}${withoutEscapes(line.text)}`.replaceAll(ABOUT, '').trimEnd();
    before = text.endsWith(':') ? text.slice(-MAX_NAME) : '';
    const what = describeLine(patterns, text) ?? (view.name.base === 'package.json' ? shorthandIn(text) : null);
    return what === null ? [] : [atLine(view.file, line, what)];
  });
}

const MAX_NAME = 300;

/** `"name": "user/repository"`: https://docs.npmjs.com/cli/configuring-npm/package-json#github-urls. The user may not begin with a dot. */
const SHORTHAND = /"((?:@[\w.-]{1,100}\/)?[\w.-]{1,214})"\s*:\s*"[A-Za-z\d][\w-]{0,38}\/[\w.-]{1,100}(?:#[^"]*)?"/g;
/** Members whose value is a path within the package. */
const PATHS =
  /^(?:main|module|types|typings|browser|bin|man|directory|source|style|sass|svelte|import|require|default|node|unpkg|jsdelivr|es\d*|esm|cjs|extends)$/;

function shorthandIn(text: string): string | null {
  for (const [, name = ''] of text.matchAll(SHORTHAND)) if (!PATHS.test(name)) return 'installs a package from GitHub';
  return null;
}

/** Members of a manifest that name a page or a repository, and install nothing. */
const ABOUT =
  /"(?:homepage|url|bugs|repository|funding|author|license|\$schema|documentation)"\s*:\s*(?:"[^"]*"|\{[^{}]*\})/gi;

/** What composer.lock names: code hosts, because Packagist has no archives of its own, and the pages of `funding`, also as `url`. */
const COMPOSER_HOSTS = [
  ...['packagist.org', 'api.github.com', 'github.com', 'gitlab.com', 'bitbucket.org', 'tidelift.com', 'symfony.com'],
  ...['opencollective.com', 'www.patreon.com', 'liberapay.com', 'ko-fi.com', 'www.buymeacoffee.com', 'www.paypal.com'],
];

/** Added lines of a lock file with `https://host/…` whose host is not listed in `registries`. */
export function foreignHosts(view: FileView, registries: readonly string[]): Hit[] {
  // The checksums of Go may contain any base64.
  if (view.name.base.endsWith('.sum')) return [];
  const isComposer = view.name.base === 'composer.lock';
  const known = new Set([...registries.map((host) => host.toLowerCase()), ...(isComposer ? COMPOSER_HOSTS : [])]);
  const page = isComposer ? COMPOSER_PAGE : BEFORE_PAGE;
  return view.lines('+').flatMap((line) => {
    const host = foreignHost(withoutEscapes(line.text), known, page);
    return host === null ? [] : [atLine(view.file, line, `names the host ${shown(host)}`)];
  });
}

/** What precedes the URL of a page: a member that names one, or the text of a notice. */
const BEFORE_PAGE = /"(?:url|funding|homepage)":\s*\[?\s*"$|"deprecated":\s*"[^"]*$|^\s*deprecated:\s[^,]*$/;
/** In composer.lock, `url` is also the archive that is installed. */
const COMPOSER_PAGE =
  /"(?:homepage|issues|source|docs|forum|wiki|rss|chat|irc|security)":\s*"$|"description":\s*"[^"]*$/;
const MAX_HOST = 300;

function foreignHost(text: string, known: ReadonlySet<string>, page: RegExp): string | null {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    const [authority = ''] = text.slice(at + 3, at + 3 + MAX_HOST).split(/[/\\?#"'\s]/, 1);
    const host = authority
      .slice(authority.lastIndexOf('@') + 1)
      .replace(/:\d*$/, '')
      .toLowerCase();
    const [scheme = ''] = /[\w+.-]*$/.exec(text.slice(Math.max(0, at - 30), at)) ?? [];
    if (known.has(host) && !scheme.startsWith('git+')) continue;
    if (!page.test(text.slice(Math.max(0, at - MAX_HOST), at - scheme.length))) return host;
  }
  return null;
}
