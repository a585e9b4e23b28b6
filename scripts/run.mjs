// node scripts/run.mjs COMMAND [arguments]; COMMANDS has them.
//
// Prepares a clean clone and runs a command: installs npm packages, compiles the sources, then starts the command.
// Plain JavaScript without dependencies, because it runs before any are installed. Its own messages go to standard error;
// standard output belongs to the command.
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeStaleOutputs } from './remove-stale-outputs.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (...parts) => join(root, ...parts);
const say = (line) => process.stderr.write(`${line}\n`);

/** An error that is reported without a stack trace. */
class Stop extends Error {}

/** Commands that start one program of node, with its arguments. */
const PROGRAMS = {
  demo: 'dist/examples/demo/main.js',
  attacks: 'dist/examples/attacks/main.js',
  'attacks:naive': 'dist/examples/attacks/naive/main.js',
  cli: 'dist/cli/main.js',
  bench: 'dist/bench/main.js',
  'bench:commit': 'dist/bench/commit.js',
  'bench:ledger': 'dist/bench/ledger.js',
  'bench:open': 'dist/bench/open.js',
  'bench:inbox': 'dist/bench/inbox.js',
  'bench:cluster': 'dist/bench/cluster.js',
  soak: 'dist/bench/soak.js',
  upgrades: 'dist/chaos/upgrades/main.js',
  'sweep:evidence': 'dist/chaos/sweep-evidence.js',
  sweep: 'dist/chaos/sweep/main.js',
  races: 'dist/chaos/races/main.js',
  fuzz: 'scripts/fuzz.mjs',
  'test:cluster': 'test/cluster/run.mjs',
  'docs:rules': 'scripts/rules.mjs',
};

const COMMANDS = {
  ...Object.fromEntries(Object.entries(PROGRAMS).map(([name, file]) => [name, (args) => node(at(file), args)])),
  quality: (args) =>
    child(process.execPath, ['--require', at('test/pins/register.cjs'), at('test/quality/main.ts'), ...args], {
      stdio: 'inherit',
    }),
  // `npm pack` runs it first. Otherwise the package could have an old bundle, or none, which a process may not be able to write there.
  build: () =>
    child(process.execPath, ['-e', "require('./dist/workers/workflow-bundle').workflowBundle()"], {
      stdio: ['ignore', 2, 2],
      cwd: root,
    }),
  test,
  // Arguments are names of files in test/browser. `npm test` runs a sample of them.
  'test:browser': (names) => {
    process.env.COUNTERSIGN_TEST_ALL = '1';
    return test(
      names.length === 0
        ? ['--selectProjects=browser']
        : ['--testPathPatterns', ...names.map((name) => `test/browser/${name}`), '--selectProjects=browser'],
      names.length === 0,
    );
  },
};

const [command, ...rest] = process.argv.slice(2);
const work = COMMANDS[command];
if (work === undefined) {
  say(`usage: node scripts/run.mjs ${Object.keys(COMMANDS).join('|')} [arguments]`);
  process.exit(2);
}
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 20)) {
  say(`Countersign needs Node 22 or 24 (minimum: 20.20); this is ${process.versions.node}.`);
  process.exit(2);
}
try {
  await installPackages();
  await compile();
  process.exitCode = await work(rest);
} catch (error) {
  say(error instanceof Stop ? error.message : (error.stack ?? String(error)));
  if (command === 'test') process.stdout.write('0 passed, 1 failed, 0 skipped\n');
  process.exitCode = 1;
}

function node(script, args) {
  if (!existsSync(script)) throw new Stop(`${script} does not exist: the build did not create it.`);
  return child(process.execPath, ['--enable-source-maps', script, ...args], { stdio: 'inherit', cwd: process.cwd() });
}

// --- npm packages ---------------------------------------------------------------------------------------------------

async function installPackages() {
  const why = packagesStale();
  if (why === undefined) return;
  say(`Installing npm packages (${why}); this takes about a minute`);
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const options = { stdio: ['ignore', 2, 2], shell: process.platform === 'win32' };
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  let code = await slow('Installing npm packages', child(npm, ['ci', ...quiet], options));
  if (code !== 0) {
    say(`\`npm ci\` ended with code ${code}; trying \`npm install\``);
    code = await slow('Installing npm packages', child(npm, ['install', '--no-save', ...quiet], options));
  }
  if (code !== 0) throw new Stop(`npm could not install the packages (exit code ${code}). See its output above.`);
}

// The reason why packages must be installed, or undefined. A lock file that is newer but lists the same packages (a fresh checkout) needs no installation.
function packagesStale() {
  const wanted = at('package-lock.json');
  const installed = at('node_modules/.package-lock.json');
  if (!existsSync(installed)) return 'node_modules is missing';
  if (!existsSync(wanted) || statSync(installed).mtimeMs >= statSync(wanted).mtimeMs) return undefined;
  const have = JSON.parse(readFileSync(installed, 'utf8')).packages ?? {};
  for (const [path, entry] of Object.entries(JSON.parse(readFileSync(wanted, 'utf8')).packages ?? {})) {
    if (path === '' || (entry.optional && have[path] === undefined)) continue;
    if (have[path]?.version !== entry.version)
      return `package-lock.json asks for ${path.replace('node_modules/', '')} ${entry.version}`;
  }
  const now = new Date();
  utimesSync(installed, now, now);
  return undefined;
}

// --- compiled sources -----------------------------------------------------------------------------------------------

async function compile() {
  const config = at('tsconfig.build.json');
  const stamp = at('dist/.built');
  const sources = JSON.parse(readFileSync(config, 'utf8')).include.map((folder) => at(folder));
  const inputs = [
    config,
    at('tsconfig.json'),
    at('node_modules/.package-lock.json'),
    at('scripts/build-inbox.mjs'),
    ...sources,
  ];
  if (existsSync(stamp) && newest(inputs) < statSync(stamp).mtimeMs) return;
  say('Compiling TypeScript');
  // A test builds the client package into this folder. Made later, it would change the time of client/.
  mkdirSync(at('client/dist'), { recursive: true });
  const began = new Date();
  removeStaleOutputs(root);
  const code = await slow(
    'Compiling',
    child(process.execPath, [at('node_modules/typescript/bin/tsc'), '-p', config], { stdio: ['ignore', 2, 2] }),
  );
  if (code !== 0) throw new Stop('The sources do not compile. See the errors above.');
  const built = await child(process.execPath, [at('scripts/build-inbox.mjs')], { stdio: ['ignore', 2, 2] });
  if (built !== 0) throw new Stop('The inbox page could not be built. See the errors above.');
  // tsc writes its .tsbuildinfo even after errors, so a separate stamp marks success. It is dated before the compile, so that an edit during the compile counts.
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, '');
  utimesSync(stamp, began, began);
}

// The modification time of a folder changes when a file in it is removed.
function newest(paths) {
  let latest = 0;
  for (const path of paths) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    latest = Math.max(latest, stat.mtimeMs);
    if (!stat.isDirectory()) continue;
    const entries = readdirSync(path, { withFileTypes: true }).filter(
      (entry) => (entry.isDirectory() && entry.name !== 'dist') || /\.(ts|tsx|json|css|html|svg)$/.test(entry.name),
    );
    latest = Math.max(latest, newest(entries.map((entry) => join(path, entry.name))));
  }
  return latest;
}

// --- tests ----------------------------------------------------------------------------------------------------------

/** `whole`: nothing is left out of the projects that are selected. */
async function test(args, whole = args.length === 0) {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-test-'));
  const output = join(dir, 'jest.json');
  try {
    // Four workers on two cores: system tests wait for half of their time. A larger young generation saves a tenth of the CPU.
    const jest = [
      '--max-semi-space-size=64',
      at('node_modules/jest/bin/jest.js'),
      '--maxWorkers=4',
      '--json',
      `--outputFile=${output}`,
      ...args,
    ];
    // Without a choice of tests, they run in parts, which share loaded modules: see jest.config.js.
    const env = whole ? { ...process.env, COUNTERSIGN_TEST_PARTS: '1' } : process.env;
    // If jest cannot write the output file it prints the JSON on standard output, which must contain only the summary.
    const code = await child(process.execPath, jest, { stdio: ['inherit', 2, 2], env });
    const { passed, failed, skipped } = existsSync(output)
      ? count(JSON.parse(readFileSync(output, 'utf8')))
      : { passed: 0, failed: 1, skipped: 0 };
    if (passed + failed === 0) say('No test ran. This counts as a failure.');
    // jest can fail without a failed test, for example if the global setup throws.
    const wrong = failed === 0 && code !== 0 ? 1 : failed;
    process.stdout.write(`${passed} passed, ${wrong} failed, ${skipped} skipped\n`);
    return wrong > 0 || passed === 0 ? code || 1 : 0;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

// A suite that could not run has no tests; it counts as one failure.
function count(result) {
  return {
    passed: result.numPassedTests,
    failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
    skipped: result.numPendingTests + result.numTodoTests,
  };
}

// --- processes ------------------------------------------------------------------------------------------------------

// Runs a program in the repository root, forwards signals to it, and returns its exit code (128 + n if signal n ended it). If npm is
// ended by a signal, so is the shell between npm and this process, which forwards nothing: the program then gets SIGTERM.
function child(file, args, options) {
  return new Promise((done, fail) => {
    const started = spawn(file, args, { cwd: root, ...options });
    const parent = process.ppid;
    const underNpm = process.env.npm_command !== undefined;
    const lost = setInterval(() => {
      if (underNpm && process.ppid !== parent) forward('SIGTERM');
    }, 500);
    const forward = (signal) => {
      clearInterval(lost);
      started.kill(signal);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, forward);
    const settle = (settler, value) => {
      clearInterval(lost);
      for (const signal of signals) process.removeListener(signal, forward);
      settler(value);
    };
    started.once('error', (error) => settle(fail, new Stop(`${file} could not be started: ${error.message}`)));
    started.once('exit', (code, signal) => settle(done, code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}

async function slow(label, work) {
  const began = Date.now();
  const timer = setInterval(() => say(`${label}: still working, ${Math.round((Date.now() - began) / 1000)} s`), 10_000);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
