// node scripts/check.mjs: everything that must pass before a commit. The fast tests run next to the other checks, because
// jest alone does not keep two cores busy until its end. Prints each output whole when the check ends; all checks run, even
// if one fails.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = (name) => join(root, 'node_modules', '.bin', name);

const LANES = [
  // A larger young generation saves a tenth of the CPU.
  [
    [
      'fast tests',
      process.execPath,
      '--max-semi-space-size=64',
      'node_modules/jest/bin/jest.js',
      '--selectProjects',
      'fast',
      '--maxWorkers=100%',
    ],
  ],
  [
    ['types', bin('tsc'), '--noEmit', '-p', 'tsconfig.json', ...incremental('check.tsbuildinfo')],
    [
      'types of the page',
      bin('tsc'),
      '--noEmit',
      '-p',
      'gateway/inbox/page/tsconfig.json',
      ...incremental('page.tsbuildinfo'),
    ],
    ['import directions', process.execPath, 'scripts/check-layers.mjs'],
    ['texts of sources', process.execPath, 'scripts/check-sources.mjs'],
    ['format', bin('prettier'), '--check', ...ownCache('check.prettier'), '.'],
    ['lint', bin('oxlint')],
    ['dead code', bin('knip'), '--cache'],
  ],
];

const began = performance.now();
const failed = (await Promise.all(LANES.map(runLane))).flat();
const seconds = Math.round((performance.now() - began) / 1000);
console.log(failed.length === 0 ? `All checks passed in ${seconds} s` : `Failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

function incremental(name) {
  return ['--incremental', '--tsBuildInfoFile', join(root, 'node_modules', '.cache', name)];
}

/** Not Prettier's default place: each run without `--cache`, as with `--write`, deletes the cache there. */
function ownCache(name) {
  const location = join(root, 'node_modules', '.cache', name);
  return ['--cache', '--cache-strategy', 'content', '--cache-location', location];
}

/** Runs the checks one after another; returns the names of those that failed. */
async function runLane(checks) {
  const names = [];
  for (const [name, file, ...args] of checks) if (!(await run(name, file, args))) names.push(name);
  return names;
}

function run(name, file, args) {
  const started = performance.now();
  return new Promise((done) => {
    const child = spawn(file, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, COUNTERSIGN_TEST_PARTS: '1' },
      shell: process.platform === 'win32',
    });
    const chunks = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
    child.once('error', (error) => chunks.push(Buffer.from(`${error.message}\n`)));
    child.once('close', (code) => {
      const seconds = Math.round((performance.now() - started) / 1000);
      const output = Buffer.concat(chunks).toString();
      process.stdout.write(`--- ${name}: ${code === 0 ? 'passed' : 'FAILED'}, ${seconds} s\n${output}`);
      done(code === 0);
    });
  });
}
