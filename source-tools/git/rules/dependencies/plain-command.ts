import { wordSet } from '../../../../policy/text/word-list';

/** Programs that build, test, check or format. With the options below they run no other code than that of the repository and its packages. */
const TOOLS = wordSet(`
  tsc tsgo vue-tsc jest vitest mocha ava xo eslint oxlint prettier stylelint svelte-check webpack rollup vite esbuild tsup tsdown
  phpunit pest phpstan psalm phpcs phpcbf php-cs-fixer pint
`);
const OPTIONS = wordSet(`
  -b --build -c --config -p --project -w --watch --mode --noEmit --incremental --pretty --coverage --ci --silent --quiet
  --fix --check --write --ext --cache --max-warnings --maxWorkers --reporter --bundle --minify --sourcemap --outDir --outdir
  --outfile --format --platform --target --dts --clean --production --run --timeout --exit --bail --check-leaks
`);
/** Of the first word after a tool, which can be a command of it. */
const TOOL_COMMANDS = wordSet('build dev preview run watch src test tests lib dist analyse analyze fix');
const DENO_COMMANDS = wordSet('fmt lint check test bench');
/** Another option can let packages run scripts, or import from other hosts. */
const DENO_OPTION =
  /^(?:-A|--allow-(?:all|read|write|env|net|sys|run|ffi)(?:=[\w./,-]*)?|--(?:parallel|trace-leaks|doc|no-check|quiet))$/;
const REMOVERS = wordSet('rm rimraf');
const MANAGERS = wordSet('npm pnpm yarn bun');
/** Scripts that many packages have. Another one may deploy or publish. */
const SCRIPT =
  /^(?:pre|post)?(?:tests?|build|lint|check|types?|typecheck|compile|clean|format|fmt|dev|start|watch|coverage|generate)(?:[:-][\w:.-]+)?$/;
/** What the manifests and lock files name. */
const INSTALL = wordSet('install i ci');
const ENVIRONMENT = /^(?:NODE_ENV|BABEL_ENV|CI|TZ|FORCE_COLOR|NO_COLOR)=\w*$/;

/** A file, folder or pattern below the manifest that is not hidden, extensions, or a plain value; in quotes or not. */
const WORD = /^(["']?)(?:\.\/)?(?:\w|\*)[\w./*,+-]*(?:\{\w+(?:,\w+)*\}|%)?\1$|^\.$|^(?:\.[cm]?[jt]sx?,?)+$/;
const JS_FILE = /^(?:\.\/)?\w[\w./-]*\.[cm]?[jt]s$/;
const FOLDER = /^(["']?)(?:\.\/)?\w[\w./*-]*\1$/;

/**
 * Whether a command of a manifest only builds, tests, checks, formats, or runs a script of a manifest or of the repository. `value`: a text
 * of JSON with its quotes. Commands can be joined by `&&`. Everything else asks, because a name does not say what an unknown program or
 * option does. It may run any code of the repository, as a test can.
 */
export function isPlainCommand(value: string): boolean {
  const text = value.slice(1, -1).replaceAll('\\"', '"').trim();
  return !/\.\.|\.\*/.test(text) && text.split(' && ').every((part) => isPlain(part.trim().split(/ +/)));
}

function isPlain([program = '', ...args]: readonly string[]): boolean {
  if (ENVIRONMENT.test(program)) return isPlain(args);
  if (program === 'cross-env') return ENVIRONMENT.test(args[0] ?? '') && isPlain(args);
  if (program === 'nyc' || program === 'c8') return isPlain(args);
  if (program === 'cd') return args.length === 1 && FOLDER.test(args[0] ?? '');
  if (TOOLS.has(program.replace(/^vendor\/bin\//, ''))) return args.every((word, i) => isArgument(word, args[i - 1]));
  if (REMOVERS.has(program)) return args.every((word) => /^-[rf]+$/.test(word) || FOLDER.test(word));
  if (program === 'node' || program === 'tsx') return runsFile(args);
  if (program === 'deno') return runsDeno(args);
  return MANAGERS.has(program) && runsScript(args);
}

/** `previous`: an option may have a value. Another word without a sign of a path can be a command of the tool. */
function isArgument(word: string, previous = ''): boolean {
  const [option = '', ...values] = word.split('=');
  if (word.startsWith('-')) return OPTIONS.has(option) && values.every((text) => WORD.test(text));
  return WORD.test(word) && (OPTIONS.has(previous) || /[./*]/.test(word) || TOOL_COMMANDS.has(word));
}

/** A program of a package can be any, such as npm. */
function runsFile([file = '', ...args]: readonly string[]): boolean {
  return (
    JS_FILE.test(file) &&
    !file.includes('node_modules') &&
    args.every((word) => /^(?:--?\w[\w-]*)?(?:=?[\w./-]*)$/.test(word))
  );
}

/** With its permissions, a file of the repository can do what one can that node runs. */
function runsDeno([command = '', ...all]: readonly string[]): boolean {
  const args = all.filter((word) => !DENO_OPTION.test(word));
  if (command === 'run') return runsFile(args);
  if (command === 'task') return args.length === 1 && SCRIPT.test(args[0] ?? '');
  return DENO_COMMANDS.has(command) && args.every((word, i) => isArgument(word, args[i - 1]));
}

function runsScript([word = '', name, ...rest]: readonly string[]): boolean {
  if (INSTALL.has(word)) return name === undefined || (name === '--frozen-lockfile' && rest.length === 0);
  if (rest.length > 0) return false;
  return word === 'run' ? SCRIPT.test(name ?? '') : name === undefined && SCRIPT.test(word);
}
