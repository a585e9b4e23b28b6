import { wordSet } from '../../../../policy/text/word-list';

/**
 * Programs that build, test, check or format files of the repository, and with the arguments that are left do nothing else, except that
 * they load code of the repository or of installed packages.
 */
const PROGRAMS = wordSet(`
  tsc tsgo vue-tsc tsc-alias api-extractor typedoc tsd publint knip depcheck madge size-limit agadoo
  jest vitest mocha ava tape uvu jasmine xo standard eslint oxlint oxfmt tslint prettier stylelint
  markdownlint markdownlint-cli2 editorconfig-checker
  webpack vite esbuild tsup tsdown unbuild pkgroll swc babel sass postcss tailwindcss
  svelte-check svelte-package sort-package-json echo
`);
/** Programs that also install packages, deploy, or change the settings of the machine, with the commands that do not. */
const COMMANDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['astro', wordSet('build check dev preview sync')],
  ['biome', wordSet('check ci format lint')],
  ['docusaurus', wordSet('build clear serve start')],
  ['nest', wordSet('build')],
  ['next', wordSet('build dev lint start typegen')],
  ['ng', wordSet('build serve test')],
  ['nuxi', wordSet('build dev generate prepare preview typecheck')],
  ['nuxt', wordSet('build dev generate prepare preview typecheck')],
  ['playwright', wordSet('test')],
  ['react-scripts', wordSet('build start test')],
  ['storybook', wordSet('build dev')],
  ['svelte-kit', wordSet('sync')],
  ['vitepress', wordSet('build dev preview serve')],
]);
/** Options of the programs above with which they run another program, evaluate a text, or install: `-n` is `--node-option` of mocha. */
const RUNS_OTHER =
  /(?<![\w-])-(?:\w*n|-?(?:on-?success|node-?(?:options?|arg\w*)|open)(?![a-z]))|open-app|exec-?argv|(?<![\w./-])(?:--?)?init(?![\w./-])/i;
/** Programs that evaluate the text of an option as a plugin or as a command, with the options that they may have. */
const BUNDLERS = wordSet('rollup rolldown');
const BUNDLER_OPTION = /^(?:-[cw]+|--(?:config|watch|silent|failAfterWarnings)(?:=[\w@./-]+)?)$/;
/** Programs that run the command in their arguments. The value of another option would look like the program. */
const WRAPPERS = wordSet('cross-env nyc c8');
const WRAPPER_OPTION = /^--(?:all|silent|check-coverage|reporter=[\w-]+|(?:lines|functions|branches|statements)=\d+)$/;
const REMOVERS = wordSet('rm rimraf del-cli del premove mkdirp mkdir');
const RUNTIMES = wordSet('node tsx ts-node');
/** Options without a value that load and evaluate no other code. */
const RUNTIME_OPTION =
  /^--(?:test|watch|no-warnings|enable-source-maps|expose-gc|trace-(?:warnings|deprecation|uncaught)|experimental-(?:strip-types|transform-types|vm-modules|test-coverage)|max[-_]old[-_]space[-_]size=\d+)$/;
/** Subcommands of Deno that run or read files of the repository. */
const DENO = wordSet('test lint fmt check bench');
const DENO_OPTION =
  /^(?:-A|--(?:allow-\w+|check|no-check|watch|parallel|fail-fast|quiet|fix|coverage)(?:=[\w.,/*-]*)?)$/;

/** Scripts of a manifest that many packages have. Each is a command that a person has seen, or that is plain. */
const SCRIPT =
  /^(?:pre|post)?(?:tests?|build|lint|check|types?|typecheck|compile|transpile|bundle|clean|format|fmt|fix|docs?|bench|benchmark|dev|start|serve|preview|watch|coverage|generate|codegen|unit|integration|e2e|storybook|validate|verify|styles?|css|js|ts|tsc|eslint|prettier|jest|vitest|esm|cjs)(?:[:-][\w:.*-]+)?$/;
const RUN_ALL = wordSet('run-s run-p run-all npm-run-all npm-run-all2');
const RUN_ALL_OPTION =
  /^(?:-[lscpr]+|--(?:parallel|sequential|serial|silent|print-label|continue-on-error|race|aggregate-output)?|\{@\})$/;
const TASK_RUNNERS = wordSet('turbo nx lerna');
const TASKS = wordSet('run run-many affected build test lint dev');
const TASK_OPTION =
  /^--(?:(?:filter|scope|projects?|exclude|concurrency|parallel)=[\w@./*!-]+|parallel|stream|no-bail|continue|verbose|all)$|^-t$/;
const MANAGERS = wordSet('npm pnpm yarn bun');
/** Options of package managers that choose packages of the workspace. */
const CHOOSING =
  /^(?:-r|--recursive|--parallel|--stream|-s|--silent|--if-present|-ws|--workspaces|--(?:filter|workspace|prefix|cwd)=[\w@./*!^{}-]+)$/;
/** Options of scripts. A package manager can take another one for its own, such as `--script-shell`. */
const PASSED = /^--(?:coverage|ci|run|watch|watchAll|fix|check|write)$/;
const ARGUMENT = /^["']*[\w@.*]/;
/** Installs what the manifests and lock files name, if nothing follows but these options. */
const INSTALLS = wordSet('install i ci');
const LOCKED = /^--(?:frozen-lockfile|immutable|ignore-scripts|no-audit|no-fund)$/;

/** Variables that choose a mode, and no code to load. */
const VARIABLE =
  /^(?:(?:NODE|BABEL)_ENV|CI|TZ|FORCE_COLOR|NO_COLOR|DEBUG|(?:VITE|REACT_APP|NEXT_PUBLIC|TEST)_\w+)=[\w.:*-]*$/;
const NODE_OPTIONS = /^NODE_OPTIONS=--(?:max[-_]old[-_]space[-_]size=\d+|experimental-vm-modules)$/;
/** A file or folder by its relative path, or a pattern of some. */
const FILE = /^[\w@.][\w@./*-]*$/;
const PATTERN = /^[\w@.*][\w@./*-]*$/;
const HIDDEN = /(?:^|\/)\.\w/;
/**
 * Without substitutions, pipes, redirections, home directories, escapes, variables of Windows, and parentheses: `tsc () (evil) && tsc`
 * defines a function.
 */
const PLAIN = /^(?:[\w@+=:,./*"'{}[\]!? -]|\d%(?=[ "']|$))+$/;
/**
 * What leads out of the package or into `.git`, also where the shell or a program expands it: `..`, `/x`, `-o/x`, `C:x`, addresses,
 * `.?`, `.gi*`, and `{,}/x`. A quote within a word hides the same.
 */
const OUTSIDE: readonly RegExp[] = [
  /\.\./,
  /(?:^|[^\w.*?}\]])\//,
  /(?<![\w-])-\w+\//,
  /(?<![\w:-])(?:[a-z]|data|file|https?|wss?|ftps?|npm|jsr):/i,
  /(?<![\w*?\]])\.(?:[^\w/ "']|[\w.-]*[*?[{])/,
  /\.git(?!ignore|attributes)/i,
  /[{,],|,\}/,
  /[^\s=]["'][^\s"']/,
];
/** Between two `&&`, so that a quoted text cannot contain one. */
const QUOTED = /^(?:[^"']|"[^"']*"|'[^"']*')*$/;
/** A script or command with such a name reaches people outside. */
const REACHES_OUT = /deploy|publish|release|upload|push/i;

/**
 * Whether a command of a manifest only builds, tests, checks or formats. `value`: a text of JSON with its quotes. Commands can be joined by
 * `&&`. Everything else asks: what an unknown program does, its name does not say.
 */
export function isPlainCommand(value: string): boolean {
  const parts = value.slice(1, -1).replaceAll('\\"', '"').split('&&');
  const isSafe = (part: string): boolean =>
    PLAIN.test(part) &&
    QUOTED.test(part) &&
    ![...OUTSIDE, RUNS_OTHER, REACHES_OUT].some((pattern) => pattern.test(part));
  return parts.every((part) => isSafe(part) && isPlain(part.trim().split(/ +/)));
}

function isPlain(words: readonly string[]): boolean {
  const [program = '', ...args] = words;
  if (VARIABLE.test(program) || NODE_OPTIONS.test(program)) return isPlain(args);
  if (PROGRAMS.has(program)) return true;
  if (COMMANDS.has(program)) return COMMANDS.get(program)?.has(args[0] ?? '') === true;
  if (BUNDLERS.has(program)) return args.every((word) => BUNDLER_OPTION.test(word) || FILE.test(word));
  if (WRAPPERS.has(program)) return isPlain(args.slice(args.findIndex((word) => !WRAPPER_OPTION.test(word))));
  if (REMOVERS.has(program)) return args.every((word) => /^-[rfp]+$/.test(word) || isInside(word));
  if (RUNTIMES.has(program)) return runsFile(args);
  if (RUN_ALL.has(program)) return args.map(unquoted).every((word) => SCRIPT.test(word) || RUN_ALL_OPTION.test(word));
  if (TASK_RUNNERS.has(program)) return runsTask(args);
  if (MANAGERS.has(program)) return runsScript(program, args);
  const [first = '', ...rest] = args;
  switch (program) {
    case 'cd':
      return rest.length === 0 && FILE.test(first);
    case 'exit':
      return rest.length === 0 && /^\d$/.test(first);
    case 'cp':
      return copies(args);
    case 'deno':
      if (first === 'task') return rest.length === 1 && SCRIPT.test(rest[0] ?? '');
      return DENO.has(first) && rest.every((word) => DENO_OPTION.test(word) || FILE.test(word));
    default:
      return false;
  }
}

const unquoted = (word: string): string => word.replaceAll(/^["']|["']$/g, '');

function isInside(word: string): boolean {
  const path = unquoted(word);
  return PATTERN.test(path) && !/^[.*/]*$/.test(path);
}

/** Not secrets, and not over a program of a package or a setting. */
function copies(args: readonly string[]): boolean {
  const paths = args.filter((word) => !/^-[rRf]+$/.test(word));
  const isFree = (word: string): boolean =>
    isInside(word) && !/node_modules/.test(word) && !HIDDEN.test(unquoted(word));
  return paths.every(isFree) && paths.at(-1)?.includes('*') === false;
}

function runsFile(args: readonly string[]): boolean {
  const at = args.findIndex((word) => !RUNTIME_OPTION.test(word) && word !== 'watch');
  const file = args[at];
  if (file === undefined) return args.includes('--test');
  if (!FILE.test(file) || file === 'inspect' || (file.includes('*') && !args.includes('--test'))) return false;
  // A program of a package can be any, such as npm.
  return !/node_modules/.test(file) || /\/(?:jest|jest\.js)$/.test(file);
}

function runsTask([task = '', ...rest]: readonly string[]): boolean {
  const isTask = (word: string): boolean => SCRIPT.test(word.replace(/^[\w@-]+:/, ''));
  return TASKS.has(task) && rest.every((word) => TASK_OPTION.test(word) || isTask(word));
}

function runsScript(manager: string, args: readonly string[]): boolean {
  const isFiltered = manager === 'pnpm' && args[0] === '--filter' && PATTERN.test(args[1] ?? '');
  const [word = '', ...rest] = args.slice(isFiltered ? 2 : 0).filter((arg) => !CHOOSING.test(arg));
  if (INSTALLS.has(word)) return rest.every((option) => LOCKED.test(option));
  const isRun = word === 'run' || word === 'run-script';
  const [script = '', ...options] = isRun ? rest : [word, ...rest];
  // `npm docs` opens an address, and `bun build` is no script.
  const isCommand = /^docs?$/.test(script) || (manager === 'bun' && script === 'build');
  if (!SCRIPT.test(script) || (isCommand && !isRun)) return false;
  const end = options.indexOf('--');
  const own = end === -1 ? options : options.slice(0, end);
  return own.every((option) => ARGUMENT.test(option) || PASSED.test(option));
}
