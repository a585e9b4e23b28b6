// node scripts/defects.mjs [--only WORDS]...
//
// Seeds each known defect in a copy of the sources, never in the checkout, and runs the test files that should catch it.
// Writes the table of docs/assurance/track-record.md. Exits 1 if a defect is not caught.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DEFECTS } from './defects/list.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { only } = readOptions();
const say = (line) => process.stderr.write(`${line}\n`);

const copy = mkdtempSync(join(tmpdir(), 'countersign-defects-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
});
for (const file of files.split('\0').filter((name) => /\.(ts|mjs|cjs|js|json|yaml|csv|md)$/.test(name))) {
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  cpSync(join(root, file), join(copy, file));
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

const chosen = DEFECTS.filter(({ name }) => only.length === 0 || only.some((words) => name.includes(words)));
assertTestsPass([...new Set(chosen.flatMap(({ tests }) => tests))]);
const rows = chosen.map((defect, i) => {
  const caughtBy = caughtByTest(defect);
  say(`${i + 1} of ${chosen.length}: ${caughtBy === null ? 'NOT CAUGHT' : 'caught'}  ${defect.name}`);
  return { ...defect, caughtBy };
});
if (only.length === 0) writeFileSync(join(root, 'docs', 'assurance', 'track-record.md'), page(rows));
const missed = rows.filter(({ caughtBy }) => caughtBy === null);
say(`${rows.length - missed.length} of ${rows.length} defects caught`);
process.exitCode = rows.length > 0 && missed.length === 0 ? 0 : 1;

function readOptions() {
  try {
    return { only: parseArgs({ options: { only: { type: 'string', multiple: true } } }).values.only ?? [] };
  } catch (error) {
    process.stderr.write(`${error.message}\nusage: node scripts/defects.mjs [--only WORDS]...\n`);
    return process.exit(2);
  }
}

/** Throws if a test fails without a defect: such a test proves nothing. Files that fail together with others run once more, alone. */
function assertTestsPass(tests) {
  const together = run(tests, 1_800_000);
  const again = new Set(together.failed.map(({ file }) => file));
  for (const test of together.ran === 0 ? tests : again) {
    const { failed, ran } = run([test]);
    if (ran === 0 || failed.length > 0)
      throw new Error(
        `Without any defect: ${test}: ${ran} tests ran, ${failed.length} failed: ${failed[0]?.title ?? ''}`,
      );
  }
  say(`Without any defect the ${together.ran} tests of ${tests.length} files pass`);
}

/** The first test that fails with the defect, or null. */
function caughtByTest({ name, file, from, to, tests }) {
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  if (source.split(from).length !== 2) throw new Error(`${name}: expected exactly one occurrence in ${file}: ${from}`);
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  try {
    return run(tests).failed[0] ?? null;
  } finally {
    writeFileSync(path, source);
  }
}

function run(tests, timeout = 900_000) {
  const output = join(copy, 'jest.json');
  rmSync(output, { force: true });
  const jest = join(copy, 'node_modules', 'jest', 'bin', 'jest.js');
  // Servers are started only for tests that need them.
  const system = tests.some((test) => test.startsWith('test/system/')) ? ['system'] : [];
  const args = [
    ...[...tests, '--selectProjects', 'fast', 'slow', ...system],
    ...['--maxWorkers=1', '--json', `--outputFile=${output}`],
  ];
  const { status, signal } = spawnSync(process.execPath, [jest, ...args], { cwd: copy, stdio: 'ignore', timeout });
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
