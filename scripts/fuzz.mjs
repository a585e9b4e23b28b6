// npm run fuzz -- --minutes N
//
// Runs the files that contain property tests repeatedly, each round with a new seed, until the time is over. Runs at least
// one round and completes the last one. Stops at the first round with a failure, prints the test, the seed, the path and the
// command that repeats it, and exits with 1. Exits with 130 if interrupted.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const say = (line) => process.stderr.write(`${line}\n`);
const JEST = ['node_modules/jest/bin/jest.js', '--selectProjects', 'fast', 'slow'];

const minutes = readMinutes();
process.exitCode = minutes === null ? 2 : await fuzz(minutes);

function readMinutes() {
  try {
    const { values } = parseArgs({ options: { minutes: { type: 'string' } } });
    const number = Number(values.minutes);
    if (Number.isFinite(number) && number > 0) return number;
    say('--minutes: expected a positive number');
  } catch (error) {
    say(error.message);
  }
  say('usage: npm run fuzz -- --minutes N');
  return null;
}

async function fuzz(minutes) {
  const files = readdirSync(join(root, 'test'), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', name))
    .filter((file) => readFileSync(join(root, file), 'utf8').includes("from 'fast-check'"))
    .toSorted();
  const until = performance.now() + minutes * 60_000;
  for (let round = 1; ; round++) {
    const seed = randomInt(2 ** 31);
    const began = performance.now();
    const { failures, passed, interrupted } = await runRound(files, seed);
    if (interrupted) {
      say(`Interrupted in round ${round}, seed ${seed}`);
      return 130;
    }
    const seconds = Math.round((performance.now() - began) / 1000);
    say(`Round ${round}, seed ${seed}: ${passed} passed, ${failures.length} failed, ${seconds} s`);
    for (const failure of failures) report(failure, seed);
    if (failures.length > 0) return 1;
    if (performance.now() >= until) return 0;
  }
}

async function runRound(files, seed) {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-fuzz-'));
  const output = join(dir, 'jest.json');
  try {
    const args = [...JEST, '--silent', '--json', `--outputFile=${output}`, '--runTestsByPath', ...files];
    const env = { ...process.env, COUNTERSIGN_PROPERTY_SEED: String(seed) };
    const { code, printed, interrupted } = await run(process.execPath, args, env);
    if (interrupted) return { passed: 0, failures: [], interrupted };
    if (!existsSync(output))
      return { passed: 0, failures: [{ file: '', title: '', message: printed }], interrupted: false };
    const result = JSON.parse(readFileSync(output, 'utf8'));
    const failures = result.testResults.flatMap(failuresOf);
    if (code !== 0 && failures.length === 0) failures.push({ file: '', title: '', message: printed });
    return { passed: result.numPassedTests, failures, interrupted: false };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

// A file that could not run has no tests, only a message.
function failuresOf({ name, status, message, assertionResults }) {
  const file = relative(root, name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  if (status === 'failed' && failed.length === 0) return [{ file, title: '', message }];
  return failed.map((test) => ({ file, title: test.fullName, message: test.failureMessages.join('\n') }));
}

function report({ file, title, message }, seed) {
  say(`\n${file}: ${title}`);
  say(message.replaceAll(/^ {4}at .*\n?/gm, '').slice(0, 4_000));
  // fast-check's own line, with the path of the shrunk counterexample.
  const found = /\{ seed: (-?\d+), path: "([^"]*)"/.exec(message);
  if (found === null) say('The message names no property; the test may fail with every seed.');
  else say(`Seed ${found[1]}, path ${found[2]}`);
  const pattern = title.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const test = title === '' ? '' : ` -t ${quoted(pattern)}`;
  say(
    `To repeat: COUNTERSIGN_PROPERTY_SEED=${seed} npx jest --selectProjects fast slow --runTestsByPath ${file}${test}`,
  );
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The exit code, whether a signal interrupted the run, and the end of what jest printed, for runs without a results file. */
function run(file, args, env) {
  return new Promise((done, fail) => {
    const child = spawn(file, args, { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] });
    const lines = [];
    child.stderr.setEncoding('utf8').on('data', (text) => lines.push(text));
    let interrupted = false;
    const stop = (signal) => () => {
      interrupted = true;
      child.kill(signal);
    };
    const pass = ['SIGINT', 'SIGTERM'].map((signal) => [signal, stop(signal)]);
    for (const [signal, listener] of pass) process.on(signal, listener);
    child.once('error', fail);
    child.once('close', (code) => {
      for (const [signal, listener] of pass) process.removeListener(signal, listener);
      done({ code: code ?? 1, interrupted, printed: lines.join('').slice(-4_000) });
    });
  });
}
