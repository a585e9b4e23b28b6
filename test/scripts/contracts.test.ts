import { execFileSync, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

test('docs/contracts.md is current, claims only lines that exist, and leaves no more of them open than before', () => {
  const { status, stderr, stdout } = spawnSync(process.execPath, ['scripts/contracts.mjs', '--check'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^222 lines, \d+ open/);
});

/** The page over made-up tests, as the tool's own process makes it. */
function pageOf(text: string, notDone: object = {}): { page: string; unclaimed: string[]; wrong: string[] } {
  const input = { lines: { F1: 'one | two', F2: 'b', G1: 'c' }, notDone, files: [{ file: 'test/a.test.ts', text }] };
  const program = `import { contractsPage } from './scripts/contracts.mjs';
    process.stdout.write(JSON.stringify(contractsPage(${JSON.stringify(input)})));`;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: ROOT, encoding: 'utf8' }),
  ) as ReturnType<typeof pageOf>;
}

describe('what counts as a claim', () => {
  test.each([
    ['a test', `test('holds [F1]', () => {})`],
    ['a describe', `describe('holds [F1]', () => {})`],
    ['a title on a line of its own', `it(\n  "holds [C9, F1]",\n  () => {})`],
    ['the title of a table', `it.each([1])('%s holds [G9, F1]', () => {})`],
    ['a row of a table', `test.each([['holds [F1]', 1]])('%s', () => {})`],
    ['a title with a quote in it', `test('it\\'s held [F1]', () => {})`],
  ])('%s', (_what, text) => {
    const { page, unclaimed } = pageOf(text.replace('G9', 'P9'));
    expect(unclaimed).toEqual(['F2', 'G1']);
    expect(page).toMatch(/\| F1 \| one \\\| two \| \[a\.test\.ts\]\(\.\.\/test\/a\.test\.ts\): .*h[eo]ld/);
  });

  test.each([
    ['a skipped test', `test.skip('holds [F1]', () => {})`],
    ['a planned one', `it.todo('holds [F1]')`],
    ['one that is crossed out', `xit('holds [F1]', () => {})`],
    ['a comment', `// holds [F1]`],
    ['a text that is no title', `const x = 'holds [F1]';`],
    ['brackets within a title', `test('holds [F1] and more', () => {})`],
  ])('%s claims nothing', (_what, text) => expect(pageOf(text).unclaimed).toEqual(['F1', 'F2', 'G1']));

  test('a line that does not exist, one that is said not to be done, and a skipped table are errors', () => {
    expect(pageOf(`test('x [F99]', () => {})`).wrong).toEqual([expect.stringContaining('F99, which is no line')]);
    expect(pageOf(`test('x [F1]', () => {})`, { F1: 'no' }).wrong).toEqual([expect.stringContaining('not to be done')]);
    expect(pageOf(`test.skip.each([1])('x [F1]', () => {})`).wrong).toEqual([expect.stringContaining('skips a table')]);
  });

  test('a reason stands in the page, and the line is not open', () => {
    const { page, unclaimed } = pageOf('', { F1: 'because', F2: 'so', G1: 'x' });
    expect([unclaimed, page.includes('| not done: because |')]).toEqual([[], true]);
  });
});
