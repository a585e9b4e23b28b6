import { spawnSync } from 'node:child_process';
import { nativeImport } from '../support/native-import';
import { ROOT } from '../support/root';

test('docs/assurance/contract-lines.md is up to date, every claim names an existing line, and every line is claimed', () => {
  const { status, stderr, stdout } = spawnSync(process.execPath, ['scripts/contract-lines.mjs', '--check'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toBe('222 lines, 0 open\n');
});

interface Made {
  readonly page: string;
  readonly unclaimed: readonly string[];
  readonly wrong: readonly string[];
}

/** Generates the page for sample tests. */
async function pageOf(text: string, notDone: object = {}): Promise<Made> {
  const { contractsPage } = await nativeImport<{ contractsPage: (input: object) => Made }>(
    'scripts/contract-lines.mjs',
  );
  const lines = { F1: 'one | two', F2: 'b', G1: 'c' };
  return contractsPage({ lines, notDone, files: [{ file: 'test/a.test.ts', text }] });
}

describe('claims of contract lines in test titles', () => {
  test.each([
    ['a test', `test('holds [F1]', () => {})`],
    ['a describe', `describe('holds [F1]', () => {})`],
    ['a title on a separate line', `it(\n  "holds [P9, F1]",\n  () => {})`],
    ['the title of a table', `it.each([1])('%s holds [G9, F1]', () => {})`],
    ['a row of a table', `test.each([['holds [F1]', 1]])('%s', () => {})`],
    ['a title that contains a quote', `test('it\\'s held [F1]', () => {})`],
  ])('%s', async (_what, text) => {
    const { page, unclaimed } = await pageOf(text.replace('G9', 'P9'));
    expect(unclaimed).toEqual(['F2', 'G1']);
    expect(page).toMatch(/\| F1 \| one \\\| two \| \[a\.test\.ts\]\(\.\.\/\.\.\/test\/a\.test\.ts\): .*h[eo]ld/);
  });

  test.each([
    ['a skipped test', `test.skip('holds [F1]', () => {})`],
    ['a todo test', `it.todo('holds [F1]')`],
    ['an xit test', `xit('holds [F1]', () => {})`],
    ['a skipped table', `test.skip.each([1])('%s [F1]', () => {})`],
    ['a row of a skipped table', `test.skip.each([\n  ['holds [F1]', 1],\n])('%s', () => {\n  f();\n});`],
    ['a test within a skipped describe', `describe.skip('x', () => {\n  test('holds [F1]', () => {});\n});`],
    [
      'a test within a describe that is skipped where a file is absent',
      `(present ? describe : describe.skip)('x', () => {\n  test.each(rows)('holds [F1]', () => {});\n});`,
    ],
    [
      'a test that is skipped where a file is absent',
      `const itWithFile = present ? it : it.skip;\nitWithFile('holds [F1]', () => {\n  f();\n});`,
    ],
    [
      'a test on a corpus beside the checkout',
      `withCorpus<{\n  readonly x: string;\n}>('x.json', (cases) => {\n  it('holds [F1]', () => {});\n});`,
    ],
    ['a comment', `// holds [F1]`],
    ['a string that is not a title', `const x = 'holds [F1]';`],
    ['brackets within a title', `test('holds [F1] and more', () => {})`],
  ])('%s claims nothing', async (_what, text) => expect((await pageOf(text)).unclaimed).toEqual(['F1', 'F2', 'G1']));

  test('a test after a skipped one claims its lines', async () => {
    const skipped = `describe.skip('x', () => {\n  test('holds [F1]', () => {});\n});`;
    expect((await pageOf(`${skipped}\ntest('holds [F2]', () => {});`)).unclaimed).toEqual(['F1', 'G1']);
  });

  test('reports unknown lines and claimed lines that are listed as not done', async () => {
    expect((await pageOf(`test('x [F99]', () => {})`)).wrong).toEqual([
      expect.stringContaining('F99, which is not a contract line'),
    ]);
    expect((await pageOf(`test('x [F1]', () => {})`, { F1: 'no' })).wrong).toEqual([
      expect.stringContaining('listed as not done'),
    ]);
  });

  test('prints the reason for a line that is deliberately not done and does not count it as open', async () => {
    const { page, unclaimed } = await pageOf('', { F1: 'because', F2: 'so', G1: 'x' });
    expect([unclaimed, page.includes('| not done: because |')]).toEqual([[], true]);
  });
});
