import { linePattern, describeLine, wordsOf } from '../../../../policy/text/line-patterns';
import type { Hit } from '../../../../policy/rules/rule-maker';
import { shown } from '../../../../policy/text/shown-name';
import { addedHits, atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';

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
    String.raw`(?:^|[\s{,])registry\s*=|"registry"\s*:|--?(?:extra-)?index-url\b|\bindex[-_]url\s*=|--?find-links\b|--?trusted-host\b|\bnpmregistryserver\s*:|^\s*source\s+["']|\[\[tool\.\w+\.(?:source|index)`,
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

/** Added lines of a manifest that install code from another place than the registry, or run a script on installation. */
export function sourceHits(view: FileView): Hit[] {
  return view.name.base === 'package.json'
    ? addedHits(view, WORDS_IN_PACKAGE_JSON, (text) => (ABOUT.test(text) ? null : describeLine(IN_PACKAGE_JSON, text)))
    : addedHits(view, WORDS, (text) => (ABOUT.test(text) ? null : describeLine(SOURCES, text)));
}

/** Members of a manifest that name a page or a repository, and install nothing. */
const ABOUT = /^\s*"(?:homepage|url|bugs|repository|funding|author|license|\$schema|documentation)"\s*:\s*\{?\s*"/i;

/** Added lines with `https://host/…` whose host is not listed in `registries`. */
export function foreignHosts(view: FileView, registries: readonly string[]): Hit[] {
  const known = new Set(registries.map((host) => host.toLowerCase()));
  return view.lines('+').flatMap((line) => {
    const at = line.text.indexOf('://');
    // The checksums of Go may contain any base64.
    if (at === -1 || view.name.base.endsWith('.sum')) return [];
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
