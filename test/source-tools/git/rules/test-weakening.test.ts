import { movePatch } from '../../../../dev/fixtures/git-repository';
import { MODIFIED, NEW, patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { firedReason, fires } from '../../../policy/rules/support/run-pack-rule';

const weakens = (path: string, line: string): boolean =>
  fires('git_test_weakening', patchOf(path, MODIFIED, [`+${line}`]));

describe('a line that is added to a test file', () => {
  it.each([
    ['test/a.test.ts', "it.skip('adds', () => {"],
    ['test/a.test.ts', "test.concurrent.skip('adds', () => {"],
    ['test/a.test.ts', "test.fails.each([1])('adds', () => {"],
    ['test/a.test.js', "xit('adds', () => {"],
    ['test/a.test.js', "  describe.only('adds', () => {"],
    ['test/a.test.js', "test('adds', { skip: 'later' }, () => {"],
    ['spec/a_spec.rb', "  xit 'adds' do"],
    ['spec/a_spec.rb', "  fit 'adds' do"],
    ['spec/a_spec.rb', "  it 'adds', :skip do"],
    ['spec/a_spec.rb', "    pending 'until the next release'"],
    ['tests/test_a.py', 'pytestmark = pytest.mark.skip(reason="later")'],
    ['tests/test_a.py', '@skip("later")'],
    ['tests/test_a.py', '    raise unittest.SkipTest("later")'],
    ['tests/test_a.py', '    pytest.skip("later")'],
    ['tests/a_test.exs', '  @tag :skip'],
    ['tests/ATest.php', '    $this->markTestSkipped("later");'],
    ['Tests/ATests.cs', '    [Fact(Skip = "later")]'],
    ['src/test/java/ATest.java', '  @Test(enabled = false)'],
    ['src/test/java/ATest.java', '    assumeTrue(false);'],
    ['test/a_test.cc', 'TEST(Adder, DISABLED_Adds) {'],
    ['test/a_test.cc', '  GTEST_SKIP();'],
    ['Tests/ATests.swift', '    throw XCTSkip("later")'],
    ['a_test.go', '\tt.Skip("later")'],
    ['test/a.test.ts', "it['skip']('adds', () => {"],
    ['test/a.test.ts', "it.runIf(false)('adds', () => {"],
    ['test/a.test.ts', "it('adds', { todo: true }, () => {"],
    ['test/a.test.ts', '    this.skip();'],
    ['a_test.go', '//go:build never'],
    ['src/test/java/ATest.java', '  @DisabledOnOs(OS.LINUX)'],
    ['src/test/java/ATest.java', '  @org.junit.jupiter.api.Disabled'],
    ['Tests/ATests.cs', '    [Fact, Ignore]'],
    ['Tests/ATests.cs', '    Assert.Inconclusive();'],
    ['tests/ATest.php', '})->skip();'],
    ['tests/a_test.exs', '  @moduletag :skip'],
    ['test/a.bats', '  skip'],
    ['src/lib.rs', '    #[ignore = "later"]'],
    ['cypress/e2e/login.cy.ts', "it.skip('logs in', () => {"],
  ])('is found if it skips or disables a test, in any framework: %s %s', (path, line) => {
    expect(weakens(path, line)).toBe(true);
  });

  it.each([
    ['test/a.test.ts', '  expect(true).toBe(true);'],
    ['test/a.test.ts', '  expect(1).toEqual(1);'],
    ['test/a.test.ts', '  assert.ok(true);'],
    ['tests/test_a.py', '    assert True'],
    ['tests/test_a.py', '    self.assertTrue(True)'],
    ['tests/a.rs', '    assert!(true);'],
    ['src/test/java/ATest.java', '    assertEquals(1, 1);'],
  ])('is found if it asserts a condition that is always true: %s %s', (path, line) => {
    expect(weakens(path, line)).toBe(true);
  });

  it.each([
    ['test/a.test.ts', '  expect(list.skip(2).take(1)).toEqual([3]);'],
    ['test/a.test.ts', '  expect(true).toBe(isReady);'],
    ['test/a.test.ts', '  const profit = benefit(1);'],
    ['test/a.test.ts', "it('skips blank lines', () => {"],
    ['test/a.test.ts', '  expect(todo.pending).toBe(1);'],
    ['tests/test_a.py', '    assert True is flag'],
    ['tests/test_a.py', '    assert truth == 1'],
    ['spec/a_spec.rb', '    expect(order).to be_pending'],
    ['src/skip.test-data.ts', 'list.skip(1)'],
    ['test/a.test.ts', "  const row = { status: 'skip', only: true };"],
    ['src/lib.rs', '    #[serde(skip = true)]'],
    ['tests/a.rs', '    let rest = list.iter().skip(1);'],
  ])('is not found if it only contains similar words: %s %s', (path, line) => {
    expect(weakens(path, line)).toBe(false);
  });
});

describe('a threshold', () => {
  const lowers = (before: string, ...after: readonly string[]): boolean =>
    fires(
      'git_test_weakening',
      patchOf('jest.config.js', MODIFIED, [`-${before}`, ...after.map((line) => `+${line}`)]),
    );

  it('is found if it decreases, but not if its name is part of another word', () => {
    expect(lowers('  lines: 90,', '  lines: 50,')).toBe(true);
    expect(lowers('  low: 60,', '  low: 40,')).toBe(true);
    expect(lowers('  lines: 80,', '  lines: 10,', '  // lines: 90')).toBe(true);
    expect(lowers('  lines: 80,', '  lines: 85,', '  // was 70')).toBe(false);
    expect(lowers('  slow: 60,', '  slow: 40,')).toBe(false);
    expect(lowers('  maxOutlines: 60,', '  maxOutlines: 40,')).toBe(false);
  });
});

describe('assertions and test files', () => {
  const heldFor = (...patches: readonly string[]) => firedReason('git_test_weakening', patches.join(''));
  const DELETED = ['deleted file mode 100644', 'index 8c3482d..0000000'];
  const lines = (kind: string, count: number): string[] =>
    Array.from({ length: count }, (_, i) => `${kind}  expect(sum(${i})).toBe(${i});`);

  it('are held if a file loses assertions, with their number', () => {
    expect(heldFor(patchOf('test/a.test.ts', MODIFIED, lines('-', 2)))).toBe('loses 2 assertions ("test/a.test.ts")');
  });

  it('may move to another file, also if the old file is deleted', () => {
    const added = patchOf('test/b.test.ts', NEW, lines('+', 3));
    expect(heldFor(patchOf('test/a.test.ts', MODIFIED, lines('-', 3)), added)).toBeNull();
    expect(heldFor(patchOf('test/a.test.ts', DELETED, lines('-', 3)), added)).toBeNull();
    expect(heldFor(patchOf('test/a.test.ts', DELETED, lines('-', 4)), added)).toBe(
      'the test file is deleted ("test/a.test.ts")',
    );
  });

  it('are moved only as often as another file has them', () => {
    const once = '  expect(f(1)).toBe(1);';
    const deleted = patchOf('test/a.test.ts', DELETED, [`-${once}`, `-${once}`]);
    expect(heldFor(deleted, patchOf('test/b.test.ts', NEW, [`+${once}`]))).toContain('the test file is deleted');
    expect(heldFor(deleted, patchOf('test/b.test.ts', NEW, [`+${once}`, `+${once}`]))).toBeNull();
  });

  it('are not held if the tested file is deleted too', () => {
    const source = patchOf('src/a.ts', DELETED, ['-export const a = 1;']);
    expect(heldFor(patchOf('test/a.test.ts', DELETED, lines('-', 2)))).toContain('is deleted');
    expect(heldFor(patchOf('test/a.test.ts', DELETED, lines('-', 2)), source)).toBeNull();
  });

  it('are held if an existing test is skipped, but not if a new test skips on some platforms', () => {
    const skip = '+@pytest.mark.skipif(WIN, reason="no pager")';
    expect(heldFor(patchOf('tests/test_a.py', MODIFIED, [skip, ' def test_pager():']))).toContain('skips a test');
    expect(heldFor(patchOf('tests/test_a.py', MODIFIED, [skip, '+def test_pager():']))).toBeNull();
    expect(heldFor(patchOf('tests/test_a.py', MODIFIED, ['-def test_old():', skip, '+def test_pager():']))).toContain(
      'skips a test',
    );
  });

  it('are held if an existing test is skipped, also if its declaration is removed and added again', () => {
    const skipped = ['-def test_pager():', '+@pytest.mark.skip', '+def test_pager():'];
    expect(heldFor(patchOf('tests/test_a.py', MODIFIED, skipped))).toContain('skips a test');
    const inside = ['-func TestA(t *testing.T) {', '+func TestA(t *testing.T) {', '+\tt.Skip("later")'];
    expect(heldFor(patchOf('a_test.go', MODIFIED, inside))).toContain('skips a test');
  });

  it.each([
    ['test/a.test.ts', "it('adds', () => {", "// it('adds', () => {"],
    ['test/a.test.ts', "it('adds', () => {", "if (slow) it('adds', () => {"],
    ['tests/test_a.py', 'def test_adds():', 'def _test_adds():'],
    ['a_test.go', 'func TestAdds(t *testing.T) {', 'func testAdds(t *testing.T) {'],
    ['a_test.go', '  It("adds", func() {', '  PIt("adds", func() {'],
    ['src/lib.rs', '#[test]', '#[cfg(any())]'],
    ['src/test/java/ATest.java', '@Test', '// @Test'],
    ['Tests/ATests.cs', '[Fact]', ''],
    ['tests/ATest.php', 'public function testAdds() {', 'private function testAdds() {'],
    ['test/a_test.cc', 'TEST(Adder, Adds) {', 'void Adds() {'],
    ['features/a.feature', 'Scenario: adds', '# Scenario: adds'],
  ])('are held if the file declares fewer tests than before: %s %s', (path, before, after) => {
    expect(heldFor(patchOf(path, MODIFIED, [`-${before}`, `+${after}`]))).toContain('loses 1 test');
  });

  it.each([
    ['test/a.test.ts', "it('a', () => {", "test('adds', async () => {"],
    ['test/a.test.ts', "it('a', () => {", "it.each([1, 2])('adds %i', (n) => {"],
    ['tests/test_a.py', '    def test_adds(self):', 'def test_adds():'],
    ['src/lib.rs', '#[test]', '#[tokio::test]'],
    ['src/test/java/ATest.java', '@Test', '@ParameterizedTest'],
    ['Tests/ATests.cs', '[Fact]', '[Theory]'],
  ])('are not held if a test is only declared in another way: %s %s', (path, before, after) => {
    expect(heldFor(patchOf(path, MODIFIED, [`-${before}`, `+${after}`]))).toBeNull();
  });

  it('are held if an assertion is commented out, but not if a comment is removed', () => {
    const assertion = '  expect(sum(1)).toBe(1);';
    expect(heldFor(patchOf('test/a.test.ts', MODIFIED, [`-${assertion}`, `+  // ${assertion}`]))).toContain('loses 1');
    expect(heldFor(patchOf('test/a.test.ts', MODIFIED, [`-  // ${assertion}`]))).toBeNull();
  });

  it.each([
    ['test/a.test.ts', 'test/a.test.ts.off', true],
    ['test/a.test.ts', 'test/a.ts', true],
    ['tests/test_a.py', 'tests/_test_a.py', true],
    ['pkg/a_test.go', 'pkg/_a_test.go', true],
    ['test/a.test.js', 'test/adder.test.ts', false],
    ['tests/test_a.py', 'tests/unit/test_a.py', false],
    ['test/support/server.ts', 'test/support/http.ts', false],
  ])('are held if a rename hides them from the test runner: %s becomes %s: %s', (from, to, isHeld) => {
    expect(heldFor(movePatch(from, to)) !== null).toBe(isHeld);
  });
});

it.each([
  ['package.json', '    "test": "echo ok",'],
  ['package.json', '    "test": "jest; exit 0",'],
  ['package.json', '    "test": "mocha --grep slow --invert",'],
  ['pytest.ini', 'addopts = -q --deselect tests/test_a.py'],
  ['pytest.ini', 'addopts = -q -k "not auth"'],
  ['playwright.config.ts', "  testIgnore: '**/auth*',"],
  ['.nycrc', '  "check-coverage": false,'],
])('finds a configuration that leaves out tests or coverage: %s %s', (path, line) => {
  expect(weakens(path, line)).toBe(true);
});

it.each([
  ['package.json', '    "test": "vitest run",'],
  ['pytest.ini', 'addopts = -ra -q'],
  ['vite.config.ts', "    exclude: ['lodash'],"],
])('does not find an ordinary setting of a test run: %s %s', (path, line) => {
  expect(weakens(path, line)).toBe(false);
});
