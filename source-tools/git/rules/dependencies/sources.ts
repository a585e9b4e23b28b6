import { linePattern, describeLine, type LinePattern } from '../../../../policy/text/line-patterns';
import type { Hit } from '../../../../policy/rules/hit';
import { shown } from '../../../../policy/text/shown-name';
import { atLine } from '../define-git-rule';
import type { FileView } from '../patch-view';
import { isRequirements, isSettings } from './ecosystems';
import { withoutEscapes } from './json-escapes';
import { isPlainRuby, endsRuby } from './ruby-lines';
import { updatesIn } from './toml-lines';

const SOURCES = [
  linePattern(
    'installs a package from git',
    ['git', 'bitbucket', 'gist'],
    String.raw`\bgit\+(?:https?|ssh|file):|:\s*["']?\s*(?:git|github|gitlab|bitbucket|gist):|\bgit["']?\s*=\s*["']|:(?:git|github|gitlab|bitbucket|gist)\s*=>|^\s*git\s+["']|\b(?:git|github|gitlab|bitbucket|gist):\s*["']|"git@|[/:][\w.-]+\.git(?:["'#@]|$)`,
  ),
  linePattern(
    'installs a package from a URL',
    ['http:', 'https:', 'ftp:'],
    String.raw`"[^"]+"\s*:\s*"\s*(?:[\w@/.-]{1,200}@)?https?://|\s@\s+https?://|^\s*(?:-e\s+)?https?://|\burl["']?\s*=\s*["']https?://`,
  ),
  linePattern(
    'installs a package from a local folder or archive',
    ['file:', 'link:', 'portal:', 'patch:', 'exec:', 'path', '.tgz', '.tar.gz'],
    String.raw`[:@]\s*["']?\s*(?:file|link|portal|patch|exec):|\bpath["']?\s*=\s*["']\.\.|[{,.]\s*["']?path["']?\s*=\s*["']|\bpath:\s*["']|:path\s*=>|:\s*"[^"\s]*\.(?:tgz|tar\.gz)"`,
  ),
  linePattern(
    'installs packages from another registry',
    [
      'registry',
      'registries',
      'repositories',
      'index-url',
      'find-links',
      'find_links',
      'trusted-host',
      'index_url',
      'source',
      'index',
    ],
    String.raw`(?:^|[\s{,:])"?registry"?\s*=|"(?:registry|repositories)"\s*(?::|$)|--?(?:extra-)?index-url\b|\bindex[-_]url\s*=|--?find-links\b|\bfind[-_]links\s*=|--?trusted-host\b|\bnpmregistryserver\s*:|^\s*registr(?:y|ies)\s*:|^\s*source\s+["']|\bsource:\s*["']|\[\[tool\.\w+\.(?:source|index)`,
  ),
  linePattern(
    'replaces a package',
    ['replace', '=>', '[patch', 'overrides', 'resolutions', 'packageextensions', 'patcheddependencies', '.patch'],
    String.raw`^\s*\[?replace\b|^\s*[\w"\x60][^\s,]*(?:\s+v\S+)?\s+=>\s*\S|^\s*\[patch|(?:"|^)(?:overrides|resolutions|packageextensions|patcheddependencies)"?\s*(?::|$)|@\d[^"'\s]*["']?\s*:\s*["']?[^"'\s]+\.patch\b`,
  ),
  linePattern(
    'lets packages run scripts on installation',
    ['onlybuiltdependencies', 'allow', 'trusteddependencies', 'enablescripts', 'ignore-scripts'],
    String.raw`\b(?:onlybuiltdependencies\w*|allowbuilds|allow-plugins|dangerouslyallowallbuilds|trusteddependencies|enablescripts)["']?\s*(?::|$)|\bignore-scripts\s*=`,
  ),
  linePattern(
    'turns off a check of what is installed',
    [
      'strict',
      'verifystoreintegrity',
      'checksumbehavior',
      'unsafehttpwhitelist',
      'secure-http',
      'disable-tls',
      'trustpolicy',
    ],
    String.raw`\b(?:strict-ssl|enablestrictssl|verifystoreintegrity|checksumbehavior|unsafehttpwhitelist|secure-http|disable-tls|trustpolicy)["']?\s*[:=]`,
  ),
  linePattern(
    'names code that a build runs',
    ['build', 'backend-path', 'hook', 'cmdclass', 'proc-macro', 'proc_macro'],
    String.raw`(?:^|[\s{,."'])(?:build-backend|backend-path|custom-hook|cmdclass|proc[-_]macro)["']?\s*=|(?:^|[{,.])\s*["']?build["']?\s*=\s*["']|^\s*\[+[\w\s.-]*\b(?:hooks\b|cmdclass|poetry\.build\b)`,
  ),
  linePattern('accepts any version', ['"*"', '"latest"'], String.raw`"[\w@/.-]+"\s*:\s*"(?:\*|latest)"`),
];

const ALIASES = [
  linePattern(
    'installs a package under another name',
    ['npm:', 'jsr:', 'workspace:', 'package'],
    String.raw`(?:"\s*:\s*"|^\s*[^\s:]+\s*:\s+["']?)\s*(?:npm:|jsr:|workspace:@?[a-z][\w./-]*@)|\{[^}]*\bpackage["']?\s*=\s*["']`,
  ),
];

const SCRIPTS = [
  linePattern(
    'runs a script on installation',
    ['install', 'prepare', 'prepublish', 'preprepare', 'postprepare', 'dependencies'],
    String.raw`"(?:(?:pre|post|pnpm:devpre)?(?:install|prepare)|prepublish|(?:pre|post)?uninstall)"\s*(?::|$)|"dependencies"\s*:\s*"`,
  ),
  linePattern(
    'runs a script on deployment',
    ['heroku', 'vercel', 'now-', 'gcp-', 'eas-'],
    // https://devcenter.heroku.com/articles/nodejs-support and the pages of other hosts.
    String.raw`"(?:heroku-(?:prebuild|postbuild|cleanup)|vercel-(?:build|install)|now-build|gcp-build|eas-build-[\w-]+)"\s*(?::|$)`,
  ),
  linePattern(
    'runs a package that no manifest names',
    ['npx', 'bunx', 'pnpx', 'dlx', 'npm', 'uvx', 'pipx'],
    String.raw`[\s=;&|"](?:npx|bunx|pnpx|uvx|pipx\s+run|(?:pnpm|yarn)\s+dlx|npm\s+(?:exec|x))\s`,
  ),
  linePattern(
    'runs a script when the package gets a version, is packed or published, or on a commit',
    ['pack', 'publish', 'hooks', 'husky', 'lint-staged', 'pre-commit', 'version'],
    String.raw`"(?:(?:pre|post)(?:pack|version)|prepublishonly|(?:post)?publish)"\s*(?::|$)|"version"\s*:\s*"(?:[^"\d]*"|[^"\s]*\s)|"(?:simple-git-hooks|githooks|husky|lint-staged|pre-commit)"\s*:\s*(?:[{[]|$)`,
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

/**
 * Added lines of a manifest that install code from another place than the registry, or run a script on installation. In a file
 * of settings, a line that is removed may do the same.
 */
export function sourceHits(view: FileView): Hit[] {
  const patterns = patternsFor(view.name.base);
  const { hunks, binary } = view.file;
  const isJson = view.name.base.includes('.json');
  return (binary === null ? hunks.map(({ lines }) => lines) : [view.lines('+')]).flatMap((lines) => {
    let [before, isPath] = ['', false];
    const isUpdate = view.name.base === 'cargo.toml' ? updatesIn(lines) : () => false;
    return lines.flatMap((line) => {
      if (line.kind === '-' && !isSettings(view))
        return isGemfile(view) && endsRuby(line.text) ? [atLine(view.file, line, RUBY)] : [];
      if (line.kind === '+' && isUpdate(line.text)) return [];
      // A value can be in a line below its name, and items in lines below the name of their list.
      const own = withoutEscapes(line.text);
      const joins = VALUE.test(own) || (isJson && (before.endsWith(':') || /^\s*:/.test(own)));
      const text = `${joins ? before : ''}${own}`.replaceAll(ABOUT, '').trimEnd();
      const isItem = joins && (isJson ? before.endsWith('[') : before !== '');
      if (!isItem) before = (isJson ? /[:["]$/ : /[:[]$/).test(text) ? text.slice(-MAX_NAME) : '';
      if (/[{}]/.test(own)) isPath = PATH_MEMBERS.test(own);
      if (line.kind === ' ') return [];
      const what = describeLine(patterns, text) ?? (line.kind === '+' ? formIn(view, text, isPath) : null);
      return what === null ? [] : [atLine(view.file, line, what)];
    });
  });
}

/** A line with a value and without a name, in JSON, TOML or YAML. */
const VALUE = /^\s*(?:-\s|["'][^"']*["'][\s,}\]]*$)/;
/** A line that opens a member whose own members are commands or files of the package. */
const PATH_MEMBERS = /^\s*"(?:scripts|bin|directories)"\s*:\s*\{\s*$/;

/** An option of pip, also after a package, a package with its source, a variable, or a path. Checksums are allowed. */
const PIP_OPTION =
  /^\s*(?:-[cefir]|--[a-gi-z]|[\w.[\],-]+\s*@\s*\S|\S*\.(?:whl|zip|tar\.gz)\b|[^\s#;]*\/|[^#]*\s--[a-gi-z]|[^#]*\$\{)/;
const COMPOSER_CODE =
  /"(?:(?:pre|post)-(?:install|update|autoload|package|root|create|operations|pool|file|command|status|archive)-[a-z-]+|init|command)"\s*:|"[\w.-]+\/[\w.*-]+"\s*:\s*true\b/;
const COMPOSER_SETTING =
  /"(?:vendor-dir|bin-dir|bin|minimum-stability|prefer-stable|lock|audit|policy|class)"\s*:|"type"\s*:\s*"composer-/;
/** Other directives name programs, switch off defaults of security, or take files from the module. */
const GO_MODULE =
  /^\s*(?:\/\/.*|\)|(?:module|go|retract|replace)\b.*|require\s*\(\s*(?:\/\/.*)?|require\s+["`]?[\w~-]+\.[\w.~/-]+["`]?\s+["`]?v\d[\w.+-]*["`]?\s*(?:\/\/.*)?|toolchain\s+(?:go\d+(?:\.\d+)*(?:rc\d+)?|default)\s*(?:\/\/.*)?|(?=[\w~-]+\.)[\w.~/-]+\s+v\d.*|\[.*)?$/;
/** A workspace replaces the packages that its modules are named like. */
const GO_WORKSPACE = /^\s*(?:\/\/.*|\)|(?:go|toolchain|replace)\s.*)?$/;
const CARGO_NAME = /(?:^\s*["']?|\.)package["']?\s*=\s*["']|dependencies\s*=\s*\{/;
const YAML_CODE = /^\s*["']?(?:(?:global)?pnpmfile|yarnPath|plugins|configDependencies)["']?\s*:/i;
/** Anchors, tags, maps in braces, escapes, keys after a question mark, and values in a line of their own. */
const YAML_FORM = /^(?!\s*#)(?:(?:[^:#]{1,200}:\s+|\s*-\s+|\s*)[&?!{*]|[^#]*\\|\s+["']?[\^~<>=]{0,2}\d[^:]*$)/;

const RUBY = 'is Ruby code that this rule cannot read';
const isGemfile = ({ name: { base } }: FileView): boolean => base === 'gemfile' || base === 'gems.rb';

/** What a line states in a form that is particular to one kind of manifest. */
function formIn({ name }: FileView, text: string, isPath: boolean): string | null {
  if (isRequirements(name)) return PIP_OPTION.test(text.trim()) ? 'names another file, source or option of pip' : null;
  switch (name.base) {
    case 'package.json':
      return isPath ? null : shorthandIn(text);
    case 'composer.json':
      if (COMPOSER_CODE.test(text)) return 'runs a script on installation';
      return COMPOSER_SETTING.test(text) ? 'is a setting of what is installed and run' : null;
    case 'cargo.toml':
      return CARGO_NAME.test(text) ? 'installs a package under another name' : null;
    case 'go.mod':
      return GO_MODULE.test(text) ? null : 'is a directive that decides what is built or run';
    case 'go.work':
      return GO_WORKSPACE.test(text) ? null : 'takes packages from a folder';
    case 'gemfile':
    case 'gems.rb':
      return isPlainRuby(text) ? null : RUBY;
    case 'pnpm-workspace.yaml':
    case '.yarnrc.yml':
      if (YAML_CODE.test(text)) return 'names code that runs on installation';
      return YAML_FORM.test(text) ? 'has a form that this rule cannot read' : null;
    default:
      return null;
  }
}

const MAX_NAME = 300;

/** `"name": "user/repository"`: https://docs.npmjs.com/cli/configuring-npm/package-json#github-urls. The user may not begin with a dot. */
const SHORTHAND = /"((?:@[\w.-]{1,100}\/)?[\w.-]{1,214})"\s*:\s*"\s*[A-Za-z\d][\w-]{0,38}\/[\w.-]{1,100}(?:#[^"]*)?"/g;
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
    // Yarn writes the URL of an archive percent-encoded.
    const text = withoutEscapes(line.text).replaceAll(/%3a/gi, ':').replaceAll(/%2f/gi, '/');
    const host = foreignHost(text, known, page);
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
