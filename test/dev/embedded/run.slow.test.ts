import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { exited } from '../../../dev/embedded/processes';

// scripts/run.mjs in a temporary project, whose compiler and jest are fakes that record their calls.
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-run-'));
  for (const script of ['run.mjs', 'remove-stale-outputs.mjs'])
    put(`scripts/${script}`, readFileSync(join(__dirname, '../../../scripts', script), 'utf8'));
  put('package-lock.json', '{"packages":{"":{},"node_modules/a":{"version":"1.0.0"}}}');
  put('node_modules/.package-lock.json', '{"packages":{"node_modules/a":{"version":"1.0.0"}}}');
  put('tsconfig.build.json', '{"include":["src"]}');
  put('src/a.ts', '');
  put(
    'node_modules/typescript/bin/tsc',
    'require("fs").appendFileSync("compiled", "x"); process.exit(require("fs").existsSync("broken") ? 2 : 0)',
  );
  put('scripts/build-inbox.mjs', '');
  put('cli/main.ts', '');
  put('dist/cli/main.js', 'console.log(JSON.stringify(process.argv.slice(2))); process.exit(7)');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
}

function run(...args: string[]): { code: number | null; out: string; err: string } {
  const env = { ...process.env, PATH: `${join(dir, 'bin')}:${process.env['PATH']}` };
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(dir, 'scripts/run.mjs'), ...args], {
    encoding: 'utf8',
    timeout: 60_000,
    env,
  });
  return { code: status, out: stdout, err: stderr };
}

/** The sources are compiled already, which saves two processes. */
function built(): void {
  put('dist/.built', '');
  touch('dist/.built', 60);
}

/** A fake jest that writes this result to the output file. */
function jest(result: object, code: number): void {
  const full = {
    numPassedTests: 0,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    numRuntimeErrorTestSuites: 0,
    ...result,
  };
  put(
    'node_modules/jest/bin/jest.js',
    `const file = process.argv.find((a) => a.startsWith('--outputFile=')).slice(13); console.log('noise');
     require('fs').writeFileSync(file, ${JSON.stringify(JSON.stringify(full))}); process.exit(${code});`,
  );
}

const compiles = (): number =>
  existsSync(join(dir, 'compiled')) ? readFileSync(join(dir, 'compiled'), 'utf8').length : 0;
const touch = (path: string, secondsFromNow: number): void =>
  utimesSync(join(dir, path), Date.now() / 1000 + secondsFromNow, Date.now() / 1000 + secondsFromNow);

it('passes arguments and the exit code, and prints its own messages on standard error', () => {
  expect(run('cli', 'show', '--json')).toEqual({ code: 7, out: '["show","--json"]\n', err: 'Compiling TypeScript\n' });
});

it('compiles only if a source is newer', () => {
  for (const path of ['src/a.ts', 'src', 'tsconfig.build.json', 'node_modules/.package-lock.json']) touch(path, -60);
  run('cli');
  run('cli');
  expect(compiles()).toBe(1);
  touch('src/a.ts', 60);
  run('cli');
  expect(compiles()).toBe(2);
});

it('does not run after a failed build, and builds again the next time', () => {
  put('broken', '');
  expect(run('cli')).toMatchObject({ code: 1, out: '' });
  rmSync(join(dir, 'broken'));
  expect(run('cli').code).toBe(7);
  expect(compiles()).toBe(2);
});

it('installs packages only if they are missing or have another version', () => {
  put('bin/npm', '#!/bin/sh\necho "$1" >> npm-calls\ncp package-lock.json node_modules/.package-lock.json\n');
  spawnSync('chmod', ['+x', join(dir, 'bin/npm')]);
  touch('package-lock.json', 60);
  expect(run('cli').err).not.toContain('Installing');
  put(
    'package-lock.json',
    '{"packages":{"":{},"node_modules/a":{"version":"1.0.1"},"node_modules/b":{"version":"1.0.0","optional":true}}}',
  );
  touch('package-lock.json', 120);
  expect(run('cli').err).toContain('package-lock.json asks for a 1.0.1');
  expect(readFileSync(join(dir, 'npm-calls'), 'utf8')).toBe('ci\n');
});

it('prints only one line of counts on standard output after the tests', () => {
  built();
  jest({ numPassedTests: 3, numPendingTests: 1, numTodoTests: 1 }, 0);
  expect(run('test')).toMatchObject({ code: 0, out: '3 passed, 0 failed, 2 skipped\n' });
});

it.each([
  [
    'a suite that could not run',
    { numPassedTests: 3, numRuntimeErrorTestSuites: 1 },
    1,
    '3 passed, 1 failed, 0 skipped\n',
  ],
  ['a failed test, though jest says 0', { numPassedTests: 1, numFailedTests: 2 }, 0, '1 passed, 2 failed, 0 skipped\n'],
  ['a tear-down that fails after all tests', { numPassedTests: 1 }, 1, '1 passed, 1 failed, 0 skipped\n'],
  ['no test at all', {}, 0, '0 passed, 0 failed, 0 skipped\n'],
])('fails for %s', (_, result, code, out) => {
  built();
  jest(result, code);
  expect(run('test')).toMatchObject({ code: 1, out });
});

it('reports a failure if jest exits without a result', () => {
  built();
  put('node_modules/jest/bin/jest.js', 'process.exit(1)');
  expect(run('test')).toMatchObject({ code: 1, out: '0 passed, 1 failed, 0 skipped\n' });
});

it('passes a signal on to the command and ends with its code', async () => {
  built();
  put(
    'dist/cli/main.js',
    `process.on('SIGTERM', () => process.exit(9)); console.log('up'); setInterval(() => {}, 1000);`,
  );
  const child = spawn(process.execPath, [join(dir, 'scripts/run.mjs'), 'cli'], { stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGTERM');
  expect(await exited(child)).toBe(9);
});

it('prints its usage for an unknown command', () => {
  expect(run('deploy')).toMatchObject({
    code: 2,
    err: expect.stringContaining('usage: node scripts/run.mjs demo|') as string,
  });
});
