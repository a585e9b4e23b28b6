// node scripts/defects.mjs [--only WORDS]...
//
// Seeds each known defect in a copy of the sources, never in the checkout, and runs the test files that should catch it. One defect
// for each core at a time, each in a copy of its own.
// Writes the table of docs/assurance/track-record.md. Exits 1 if a defect is not caught.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DEFECTS } from './defects/list.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { only } = readOptions();
const say = (line) => process.stderr.write(`${line}\n`);

const copies = [];
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

const chosen = DEFECTS.filter(({ name }) => only.length === 0 || only.some((words) => name.includes(words)));
// Without files, jest would run all tests.
if (chosen.length === 0) {
  say(`--only: no defect has a name with ${only.map((words) => `"${words}"`).join(' or ')}`);
  process.exit(2);
}
await assertTestsPass([...new Set(chosen.flatMap(({ tests }) => tests))]);
const rows = await inParallel(chosen, async (copy, defect) => {
  // One that cannot be tested does not end the others.
  const caughtBy = await caughtByTest(copy, defect).catch((error) => {
    say(String(error));
    return null;
  });
  say(`${caughtBy === null ? 'NOT CAUGHT' : 'caught'}  ${defect.name}`);
  return { ...defect, caughtBy };
});
if (only.length === 0) writeFileSync(join(root, 'docs', 'assurance', 'track-record.md'), page(rows));
const missed = rows.filter(({ caughtBy }) => caughtBy === null);
say(`${rows.length - missed.length} of ${rows.length} defects caught`);
process.exitCode = missed.length === 0 ? 0 : 1;

/** The results in the order of `all`. */
async function inParallel(all, work) {
  const results = [];
  let next = 0;
  const worker = async () => {
    const copy = copyOfSources();
    while (next < all.length) {
      const i = next++;
      results[i] = await work(copy, all[i]);
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), all.length) }, worker));
  return results;
}

function copyOfSources() {
  const copy = mkdtempSync(join(tmpdir(), 'countersign-defects-'));
  copies.push(copy);
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0');
  for (const file of files.filter((name) => /\.(ts|mjs|cjs|js|json|yaml|csv|md)$/.test(name))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

function readOptions() {
  try {
    return { only: parseArgs({ options: { only: { type: 'string', multiple: true } } }).values.only ?? [] };
  } catch (error) {
    process.stderr.write(`${error.message}\nusage: node scripts/defects.mjs [--only WORDS]...\n`);
    return process.exit(2);
  }
}

/** Throws if a test fails without a defect: such a test proves nothing. Files that fail together with others run once more, alone. */
async function assertTestsPass(tests) {
  const copy = copyOfSources();
  const together = await run(copy, tests, { workers: availableParallelism(), timeout: 1_800_000 });
  const again = new Set(together.failed.map(({ file }) => file));
  for (const test of together.ran === 0 ? tests : again) {
    const { failed, ran } = await run(copy, [test]);
    if (ran === 0 || failed.length > 0)
      throw new Error(
        `Without any defect: ${test}: ${ran} tests ran, ${failed.length} failed: ${failed[0]?.title ?? ''}`,
      );
  }
  say(`Without any defect the ${together.ran} tests of ${tests.length} files pass`);
}

/** The first test that fails with the defect, or null. */
async function caughtByTest(copy, { name, file, from, to, tests }) {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  if (source.split(from).length !== 2) throw new Error(`${name}: expected exactly one occurrence in ${file}: ${from}`);
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  try {
    return (await run(copy, tests)).failed[0] ?? null;
  } finally {
    writeFileSync(path, source);
  }
}

async function run(copy, tests, { workers = 1, timeout = 900_000 } = {}) {
  const output = join(copy, 'jest.json');
  rmSync(output, { force: true });
  const jest = join(copy, 'node_modules', 'jest', 'bin', 'jest.js');
  // Servers are started only for tests that need them.
  const system = tests.some((test) => test.startsWith('test/system/')) ? ['system'] : [];
  const args = [
    ...[...tests, '--selectProjects', 'fast', 'slow', ...system],
    // A test that fails may leave a timer or a connection behind, with which jest would not exit.
    ...[`--maxWorkers=${workers}`, '--json', `--outputFile=${output}`, '--forceExit'],
  ];
  const child = spawn(process.execPath, [jest, ...args], { cwd: copy, stdio: 'ignore', timeout });
  running.add(child);
  const [status, signal] = await once(child, 'exit');
  running.delete(child);
  if (!existsSync(output)) throw new Error(`jest ended without a result: ${signal ?? `exit code ${status}`}`);
  const { testResults, numTotalTests } = JSON.parse(readFileSync(output, 'utf8'));
  // If a file does not load, the defect could not have been released, so it proves nothing.
  const broken = testResults.find((file) => file.assertionResults.length === 0);
  if (broken !== undefined) throw new Error(broken.message);
  const failed = testResults.flatMap((file) =>
    file.assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName }) => ({ title: fullName, file: file.name.slice(file.name.indexOf('/test/') + 1) })),
  );
  return { failed, ran: numTotalTests };
}

function page(all) {
  const cell = (text) => text.replaceAll('|', '\\|');
  const lines = all.map(({ name, through, caughtBy }) => {
    const by =
      caughtBy === null
        ? '**not caught**'
        : `${cell(caughtBy.title)} ([${caughtBy.file.replace('test/', '')}](../../${caughtBy.file}))`;
    return `| ${cell(name)} | ${cell(through)} | ${by} |`;
  });
  return `# Track record

\`npm run defects\` seeds each of these defects in a copy of the sources, one at a time, runs the tests that should catch it, and generates this page. ${all.length - all.filter((row) => row.caughtBy === null).length} of ${all.length} are caught.

| Defect | What it would let through | Caught by |
| --- | --- | --- |
${lines.join('\n')}
`;
}
