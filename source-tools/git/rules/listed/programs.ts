import type { PathName } from '../../../../policy/text/glob';
import type { NameParts } from './name-parts';
import { isBelowSources, loadedFolder, operatedFolder, wordSet } from './places';

const SCRIPT = wordSet('js cjs mjs ts cts mts');
/** Languages whose files a tool can run one by one. */
const INTERPRETED: ReadonlySet<string> = new Set([
  ...SCRIPT,
  ...wordSet('py pyi rb php lua pm r jl clj cljs cljc coffee gd exs groovy'),
]);
const COMPONENTS = wordSet('jsx tsx vue svelte astro mdx');
const COMPILED = wordSet(`
  go rs java kt scala swift c h cc cpp cxx hh hpp hxx inl m mm cs fs fsi vb dart ex erl hrl elm hs lhs ml mli pas zig
  nim cr d f90 f95 adb ads cu cuh glsl vert frag comp hlsl wgsl metal sol purs re res resi v sv vhd vhdl qml xaml axaml
  proto graphql gql thrift fbs capnp
`);

export const isProgram = ({ extension }: NameParts): boolean =>
  INTERPRETED.has(extension) || COMPONENTS.has(extension) || COMPILED.has(extension);

/** Words between dots that tell the role of a module: `cart.test.ts`, `user.service.ts`. Any other can be that of a tool. */
const ROLES = wordSet(`
  test tests spec unit integration e2e cy stories story bench d mock mocks fixture fixtures stub factory module
  component components directive pipe service controller resolver guard interceptor gateway model models entity entities
  dto schema schemas type types interface interfaces enum enums constant constants const util utils helper helpers
  style styles styled theme layout page view route routes router handler handlers middleware repository client server
  browser node web native ios android shared common context provider store slice reducer actions selectors effects
  query queries mutation mutations hook hooks worker error errors event events adapter mapper validator gen generated
  graphql animation animations data i18n
`);
/** Words of files that a tool finds by their name, also among sources. */
const TOOL_WORDS = wordSet(`
  config conf cfg configuration settings setup teardown workspace preset plugin rc min bundle prod webpack rollup
  main-process
`);

/** Stems of files that a tool finds by their name, also among sources. */
const FOUND_BY_NAME = wordSet(`
  setup conftest sitecustomize usercustomize conf manage wsgi asgi noxfile fabfile locustfile pavement dodo celeryconfig
  versioneer gulpfile gruntfile jakefile dangerfile knexfile ormconfig rakefile guardfile capfile brewfile podfile
  fastfile vagrantfile berksfile puppetfile thorfile pnpmfile spechelper railshelper testhelper setupproxy
  instrumentation fxmanifest sw serviceworker
`);
/** Stems of scripts, outside the folders of sources. */
const SCRIPT_STEMS = wordSet(`
  install uninstall preinstall postinstall prepare build prebuild postbuild deploy predeploy postdeploy release publish
  bootstrap provision migrate migration migrations seed seeds schema cron crontab entrypoint startup autoload tasks
  make watch start run
`);
const CONFIG_WORDS = wordSet(
  'config configs conf cfg configuration settings setup teardown preset plugin plugins rc hook',
);
/** Words with which the set-up of test runs is named. */
const SETUP_WORDS = wordSet(`
  setup teardown test tests unit integration global globals jest vitest vite mocha jasmine karma playwright cypress env
  environment before after all each file files node dom jsdom proxy
`);

/** Programs in the root of a package that are its modules and not its tools. */
const ROOT_STEMS = wordSet(`
  index main app server client cli lib mod types __init__ __main__ models routes views urls forms admin utils helpers
  constants exceptions errors version
`);
const ORDINARY_FILE_STEMS = wordSet('file profile lockfile logfile zipfile tarfile tempfile');

const BY_NAME = 'has a name by which tools find files that they run or obey';

/** Why a person sees a program; null for an ordinary module. */
export function programReason(name: PathName, parts: NameParts): string | null {
  const loaded = loadedFolder(name);
  if (loaded !== null) return inFolder(loaded);
  if (COMPILED.has(parts.extension)) return isBuildDefinition(name, parts) ? BY_NAME : folderReason(name);
  if (parts.inner.some((word) => TOOL_WORDS.has(word))) return BY_NAME;
  const below = isBelowSources(name);
  if (!below && parts.inner.some((word) => !ROLES.has(word))) return BY_NAME;
  if (COMPONENTS.has(parts.extension)) return folderReason(name);
  if (isFoundByName(name, parts) || (!below && isNamedLikeScript(parts))) return BY_NAME;
  return folderReason(name) ?? (isRootScript(name, parts) ? 'is a script in the root of a package' : null);
}

const inFolder = (folder: string): string =>
  `is in a folder "${folder}", from which tools take files that they run or obey`;

/** React names its hooks `use…`. */
function folderReason(name: PathName): string | null {
  const folder = operatedFolder(name);
  if (folder === null || (folder === 'hooks' && /^use[A-Z-].*\.[jt]sx?$/.test(lastSegment(name)))) return null;
  return inFolder(folder);
}

const lastSegment = ({ path }: PathName): string => path.slice(path.lastIndexOf('/') + 1);

function isBuildDefinition({ folders }: PathName, { stem, extension }: NameParts): boolean {
  switch (extension) {
    case 'go':
      return stem === 'magefile';
    case 'swift':
      return stem === 'package';
    case 'scala':
      return folders.at(-1) === 'project';
    default:
      return stem === 'build';
  }
}

function isFoundByName(name: PathName, { stem, words, extension }: NameParts): boolean {
  const joined = words.join('');
  if (FOUND_BY_NAME.has(joined) || words.at(-1) === 'sw' || joined.includes('serviceworker')) return true;
  if (words.some((word) => word === 'setup' || word === 'teardown') && words.every((word) => SETUP_WORDS.has(word)))
    return true;
  switch (extension) {
    case 'py':
      return stem === 'settings' || name.folders.at(-1) === 'settings';
    case 'exs':
      return !stem.endsWith('_test');
    case 'groovy':
      return !isBelowSources(name);
    case 'clj':
      return ['project', 'build', 'user', 'data_readers'].includes(stem);
    default:
      return stem.startsWith('_') && !stem.startsWith('__') && extension === 'r';
  }
}

function isNamedLikeScript({ stem, words }: NameParts): boolean {
  if (words.length === 1 && (SCRIPT_STEMS.has(stem) || (stem.endsWith('file') && !ORDINARY_FILE_STEMS.has(stem))))
    return true;
  return words[0] === 'setup' || CONFIG_WORDS.has(words.at(-1) ?? '');
}

const PACKAGES = wordSet('packages apps');
const SITES = wordSet('doc docs website site');

/** Whether a program is where tools look first: in the root of the tree, of its site, or of one of its packages. */
function isRootScript(name: PathName, { stem, inner, extension }: NameParts): boolean {
  const [first, second] = name.folders;
  const isRoot =
    first === undefined ||
    (second === undefined && SITES.has(first)) ||
    (name.folders.length === 2 && PACKAGES.has(first) && SCRIPT.has(extension));
  if (!isRoot || ROOT_STEMS.has(stem)) return false;
  const isTest = inner.includes('test') || inner.includes('spec') || /^test_|_(?:test|spec)$/.test(stem);
  return !isTest && !(extension === 'ts' && inner.at(-1) === 'd');
}
