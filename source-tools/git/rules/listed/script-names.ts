import type { PathName } from '../../../../policy/text/glob';
import { wordSet } from '../../../../policy/text/word-list';
import { SCRIPT } from './languages';
import type { NameParts } from './name-parts';
import { isBelowSources, isBelowTests } from './places';

/** Words between dots that tell the role of a module: `cart.test.ts`, `user.service.ts`. Any other can be that of a tool. */
const ROLES = wordSet(`
  test tests spec specs unit integration e2e cy stories story bench d mock mocks fixture fixtures stub factory module
  component components directive pipe service controller resolver guard interceptor gateway model models entity entities
  dto schema schemas type types interface interfaces enum enums constant constants const util utils helper helpers
  style styles styled css theme layout page view route routes router routing handler handlers middleware repository
  client server browser node web native ios android shared common context provider store state slice reducer reducers
  actions selectors effects query queries mutation mutations hook hooks worker error errors event events adapter mapper
  validator gen generated animation animations i18n base abstract impl internal legacy async sync lazy variants props
  message messages strategy decorator filter guards tokens token icon icons win32 linux darwin posix esm cjs
`);
/** Words between dots with which tools find files, also among tests. */
const TOOL_WORDS = wordSet(`
  config conf cfg configuration settings setup teardown workspace preset plugin rc min bundle macro macros loader run
  global gdb ci cd
`);

const DATA_WORDS = wordSet('json xml csv txt rss pdf');

/** Stems of files that a tool finds by their name, wherever they are. */
const FOUND = wordSet(`
  setup conftest sitecustomize usercustomize conf manage wsgi asgi noxfile fabfile locustfile pavement dodo celeryconfig
  versioneer gulpfile gruntfile jakefile dangerfile knexfile ormconfig rakefile guardfile capfile brewfile podfile
  fastfile vagrantfile berksfile puppetfile thorfile pnpmfile spechelper railshelper testhelper setupproxy
  instrumentation setuptests testsetup globalsetup globalteardown jestsetup vitestsetup fxmanifest preload contentscript sw serviceworker
`);
/** The same among tests. */
const FOUND_IN_TESTS = wordSet('bootstrap pest environment globals');
/** Stems of scripts, outside the folders of sources. */
const SCRIPT_STEMS = wordSet(`
  install uninstall preinstall postinstall prepare build prebuild postbuild deploy predeploy postdeploy release publish
  bootstrap provision migrate migration migrations seed seeds schema cron crontab entrypoint startup autoload tasks
  make watch start run schedule console kernel
`);
const CONFIG_WORDS = wordSet(
  'config configs conf cfg configuration settings setup teardown preset plugin plugins rc hook',
);
/** Words with which the set-up of test runs is named. */
const SETUP_WORDS = wordSet(`
  setup teardown test tests unit integration global globals jest vitest vite mocha jasmine karma playwright cypress env
  environment before after all each file files node dom jsdom proxy
`);
const ORDINARY_FILE_STEMS = wordSet('file profile lockfile logfile zipfile tarfile tempfile');
/** Programs in the root of a tree that are its modules and not its tools. */
const ROOT_STEMS = wordSet(`
  index main app server client cli lib mod types __init__ __main__ models routes views urls forms admin utils helpers
  constants exceptions errors version
`);
const SITES = wordSet('doc docs website site');

/** Whether the words between the dots of a name can be those of a tool, such as `vite.config.ts`. */
export function hasUnknownWord(name: PathName, parts: NameParts): boolean {
  if (isDeclaration(parts)) return false;
  if (hasToolWord(parts)) return true;
  const isTest = isBelowTests(name) || /^(?:test|spec)$/.test(parts.inner.at(-1) ?? '');
  return !isTest && !isClass(name) && parts.inner.some((word) => !isRole(word));
}

/** Declarations of types, which no tool runs. */
const isDeclaration = ({ inner, extension }: NameParts): boolean => extension === 'ts' && inner.at(-1) === 'd';

export function hasToolWord({ inner }: NameParts): boolean {
  return inner.some((word) => TOOL_WORDS.has(lastPart(word)));
}

/** Classes and components begin with a capital letter: `App.viewport.ts`. Names of tools do not. */
const isClass = ({ path }: PathName): boolean => /^[A-Z]/.test(path.slice(path.lastIndexOf('/') + 1));

/** Whether a page is named like the data that it returns, as in Remix: `orders[.]csv.tsx`. */
export function hasDataWord({ inner }: NameParts): boolean {
  return inner.some((word) => DATA_WORDS.has(lastPart(word)));
}

const lastPart = (word: string): string => word.split(/[^\p{L}\p{N}]+/u).at(-1) ?? '';

/** A role, a version, or a language: `messages.de.ts`. */
const isRole = (word: string): boolean => ROLES.has(word) || /^(?:v\d+|[a-z]{2}(?:-[a-z]{2})?)$/.test(word);

/** Whether a tool finds the script by its name. */
export function isFoundByName(name: PathName, parts: NameParts): boolean {
  const { words } = parts;
  const joined = words.join('');
  if (FOUND.has(joined) || words.at(-1) === 'sw' || joined.includes('serviceworker')) return true;
  const isSetup = words.some((word) => word === 'setup' || word === 'teardown');
  if (isSetup && words.every((word) => SETUP_WORDS.has(word))) return true;
  if (isBelowTests(name)) {
    const ends = [words[0], words.at(-1)];
    if (FOUND_IN_TESTS.has(joined) || ends.includes('setup') || ends.includes('teardown')) return true;
  }
  return isFoundByLanguage(name, parts) || (!isBelowSources(name) && isNamedLikeScript(parts));
}

function isNamedLikeScript({ stem, words }: NameParts): boolean {
  if (words.length === 1 && (SCRIPT_STEMS.has(stem) || (stem.endsWith('file') && !ORDINARY_FILE_STEMS.has(stem))))
    return true;
  const last = words.at(-1) ?? '';
  return words[0] === 'setup' || CONFIG_WORDS.has(last) || /(?:config|conf|settings)$/.test(last);
}

function isFoundByLanguage(name: PathName, parts: NameParts): boolean {
  const { stem, extension } = parts;
  if (SCRIPT.has(extension)) return isRouteScript(name, parts) || isRouteFolder(name, parts);
  switch (extension) {
    case 'py':
      return ['settings', 'environment', 'apps', 'celery'].includes(stem) || name.folders.at(-1) === 'settings';
    case 'php':
      return name.folders.some((folder) => WEB_ROOTS.has(folder));
    case 'exs':
      return !stem.endsWith('_test');
    case 'groovy':
      return !isBelowSources(name);
    case 'clj':
    case 'cljc':
    case 'cljs':
      return ['project', 'build', 'user', 'data_readers'].includes(stem);
    case 'r':
      return stem === 'zzz' || (stem.startsWith('_') && !stem.startsWith('__'));
    default:
      return false;
  }
}

/** Folders of which a server runs each PHP file that a request names. */
const WEB_ROOTS = wordSet('public public_html www htdocs webroot html web');

/** Scripts that a framework publishes, or runs for each request, because of their name or place. */
function isRouteScript(
  { lower, folders }: Pick<PathName, 'lower' | 'folders'>,
  { stem, inner }: Pick<NameParts, 'stem' | 'inner'>,
): boolean {
  if (stem.startsWith('+') || (stem === 'hooks' && inner.length > 0)) return true;
  if ((stem === 'middleware' || stem === 'proxy') && folders.at(-1) === 'src') return true;
  return (stem === 'route' && folders.includes('app')) || /(?:^|\/)pages\/api\//.test(lower);
}

/** A framework finds `src/middleware/index.ts` like `src/middleware.ts`. */
function isRouteFolder({ lower, folders }: PathName, { stem, inner }: NameParts): boolean {
  const folder = folders.at(-1);
  if (folder === undefined || stem !== 'index' || inner.length > 0) return false;
  if (/^(?:service-?worker|instrumentation|hooks\.(?:server|client))$/.test(folder)) return true;
  return isRouteScript({ lower, folders: folders.slice(0, -1) }, { stem: folder, inner });
}

/** Whether a script is where tools look first, in the root of the tree or of its site, and not named like a module. */
export function isRootScript({ folders }: PathName, parts: NameParts): boolean {
  const { stem, inner } = parts;
  const isRoot = folders.length === 0 || (folders.length === 1 && SITES.has(folders[0] as string));
  if (!isRoot || ROOT_STEMS.has(stem)) return false;
  const isTest = inner.includes('test') || inner.includes('spec') || /^test_|_(?:test|spec)$/.test(stem);
  return !isTest && !isDeclaration(parts);
}
