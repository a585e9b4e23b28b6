import { wordSet } from '../../../../policy/text/word-list';

/**
 * Programs that build, test, check or format files of the repository, and do nothing else whatever their arguments are, except that they
 * load code of the repository or of installed packages.
 */
const PROGRAMS = wordSet(`
  tsc tsgo vue-tsc tsc-alias tsc-watch api-extractor typedoc tsd attw publint knip madge size-limit agadoo
  jest vitest mocha ava tap tape uvu jasmine karma xo standard eslint oxlint oxfmt tslint biome prettier stylelint
  markdownlint markdownlint-cli2 cspell editorconfig-checker
  webpack rollup rolldown vite esbuild tsup tsdown unbuild pkgroll microbundle parcel swc babel sass postcss tailwindcss
  svelte-kit svelte-check svelte-package astro next nuxt nuxi react-scripts vitepress docusaurus storybook
  run-s run-p run-all npm-run-all npm-run-all2 sort-package-json echo
`);
/** Programs that run the command in their arguments. */
const WRAPPERS = wordSet('cross-env nyc c8');
const REMOVERS = wordSet('rm rimraf del-cli del premove mkdirp mkdir cp');
const RUNTIMES = wordSet('node tsx ts-node');
/** Options without a value that load and evaluate no other code. */
const RUNTIME_OPTION =
  /^--(?:test|watch|no-warnings|enable-source-maps|expose-gc|trace-(?:warnings|deprecation|uncaught)|experimental-(?:strip-types|transform-types|vm-modules|test-coverage)|max[-_]old[-_]space[-_]size=\d+)$/;
/** Subcommands of Deno that run or read files of the repository; an address is not plain. */
const DENO = wordSet('test lint fmt check bench task');
const MANAGERS = wordSet('npm pnpm yarn bun');
/** Words after which a package manager runs a script of a manifest, and its options that choose packages of the workspace. */
const RUNS = wordSet('run run-script test t start');
const CHOOSING =
  /^(?:-r|--recursive|--parallel|--stream|-s|--silent|--if-present|-ws|--workspaces|--(?:filter|workspace|prefix|cwd)=\S+)$/;
const NAME = /^[\w@][\w@:./*-]*$/;
/** Scripts that many packages have, and every name with a colon, which no command of a package manager has. */
const SCRIPT =
  /^(?:[\w-]+:[\w:.-]+|(?:pre|post)?(?:tests?|build|lint|check|types?|typecheck|compile|clean|format|fmt|docs?|bench|dev|start|watch|coverage|generate)(?:-[\w-]+)?)$/;
/** Installs what the manifests and lock files name, if nothing follows but these options. */
const INSTALLS = wordSet('install i ci');
const LOCKED = /^--(?:frozen-lockfile|immutable|ignore-scripts|no-audit|no-fund)$/;

/** Variables that choose a mode, and no code to load. */
const VARIABLE =
  /^(?:(?:NODE|BABEL)_ENV|CI|TZ|FORCE_COLOR|NO_COLOR|DEBUG|(?:VITE|REACT_APP|NEXT_PUBLIC|TEST)_\w+)=[\w.:*-]*$/;
const MEMORY = /^NODE_OPTIONS=--max[-_]old[-_]space[-_]size=\d+$/;
/** A file or folder by its relative path, or a pattern of some. */
const FILE = /^[\w@.*{][\w@./*{},-]*$/;
/** Without substitutions, pipes, redirections, home directories, escapes and addresses. */
const PLAIN = /^[\w@%+=:,./*"'{}()[\]!? -]+$/;

/**
 * Whether a command of a manifest only builds, tests, checks or formats. `value`: a text of JSON with its quotes. Commands can be joined by
 * `&&`. Everything else asks: what an unknown program does, its name does not say.
 */
export function isPlainCommand(value: string): boolean {
  const parts = value.slice(1, -1).replaceAll('\\"', '"').split('&&');
  if (!parts.every((part) => PLAIN.test(part) && !part.includes('://'))) return false;
  const commands = parts.map((part) => part.trim().split(/ +/));
  // A folder above the manifest can be one outside of the repository.
  const leaves = commands.some(([program, folder = '']) => program === 'cd' && folder.split('/').includes('..'));
  return commands.every((words) => isPlain(words, leaves));
}

function isPlain(words: readonly string[], leaves: boolean): boolean {
  const [program = '', ...args] = words;
  if (VARIABLE.test(program) || MEMORY.test(program)) return isPlain(args, leaves);
  if (args.some((word) => /^["'(]*\//.test(word) || /=["']?\//.test(word))) return false;
  if (PROGRAMS.has(program)) return true;
  if (WRAPPERS.has(program)) return isPlain(args.slice(args.findIndex((word) => !word.startsWith('-'))), leaves);
  if (REMOVERS.has(program)) return !leaves && args.every((word) => /^-[rfpR]+$/.test(word) || isInside(word));
  if (RUNTIMES.has(program)) return runsFile(args);
  if (MANAGERS.has(program)) return runsScript(args);
  switch (program) {
    case 'cd':
      return args.length === 1 && FILE.test(args[0] ?? '');
    case 'deno':
      return DENO.has(args[0] ?? '');
    case 'turbo':
    case 'nx':
    case 'lerna':
      return args[0] === 'run' && NAME.test(args[1] ?? '');
    default:
      return false;
  }
}

const isInside = (word: string): boolean => {
  const path = word.replaceAll(/^["']|["']$/g, '');
  return FILE.test(path) && !path.split('/').includes('..') && !/^[.*/]*$/.test(path);
};

function runsFile(args: readonly string[]): boolean {
  const file = args.findIndex((word) => !RUNTIME_OPTION.test(word) && word !== 'watch');
  return file === -1 ? args.includes('--test') : FILE.test(args[file] ?? '');
}

function runsScript(args: readonly string[]): boolean {
  const [word = '', ...rest] = args.filter((arg) => !CHOOSING.test(arg));
  if (INSTALLS.has(word)) return rest.every((option) => LOCKED.test(option));
  return RUNS.has(word) ? rest[0] === undefined || NAME.test(rest[0]) : SCRIPT.test(word);
}
