import { MODIFIED, patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { firedReason } from '../../../policy/rules/support/run-pack-rule';

/** The reason of the rule about manifests for a hunk of one without its lock file; null if it does not fire. */
const held = (path: string, ...lines: readonly string[]) =>
  firedReason('git_dependency_change', patchOf(path, MODIFIED, lines), { config: { requireLock: false } });

describe('a change that gives the lines around it another place', () => {
  it.each([
    ['package.json', '-  "config": {', '+  "engines": {', '     "a": "b",'],
    ['package.json', '-  "keywords": [', '+  "bundledDependencies": ['],
    ['composer.json', '-  "conflict": {', '+  "require": {', '     "a/b": "1",'],
    ['composer.json', '     "a/b": "1"', '-  },', '-  "conflict": {', '+    ,', '     "c/d": "1"'],
    ['deno.json', '-  "fmt": {', '+  "imports": {', '     "include": ["a"],'],
  ])('is held in %s if they are then in another object or list: %s %s', (path, ...lines) => {
    expect(held(path, ...lines)).toContain('moves the lines below');
  });

  it.each([
    ['Pipfile', '-[requires]', ' python_version = "3.12"'],
    ['Pipfile', ' [packages]', ' a = "*"', '-[requires]', ' python_version = "3.12"'],
    ['Cargo.toml', ' [dependencies]', ' a = "1"', '-[package.metadata.x]', ' evil = "1"'],
    ['Cargo.toml', ' [package.metadata.x]', '+[dependencies]', ' evil = "1"'],
    ['Cargo.toml', ' [package.metadata.x]', ' x = "1"', '+[dependencies]', '+a.workspace = true', ' '],
    ['pyproject.toml', ' [tool.ruff]', '+[dependency-groups]', ' dev = ["evil"]'],
    ['pyproject.toml', '-[tool.ruff]', ' dev = ["evil"]'],
    ['setup.cfg', ' [aliases]', ' a = b', '-[flake8]', ' test = evil'],
  ])('is held in %s if they are then in another table: %s %s %s', (path, ...lines) => {
    expect(held(path, ...lines)).toContain('moves the lines below');
  });

  it.each([
    ['package.json', '   "a": {', '+    "optional": true', '+  },', '+  "types": {', '+    "b": "c"', '   }'],
    ['package.json', '   "dependencies": {', '     "a": "1",', '-    "b": "1"', '   },', '   "scripts": {'],
    ['Cargo.toml', ' [dependencies]', ' a = "1"', ' ', '+[features]', '+x = []', '+', ' [lints]'],
    ['Cargo.toml', '-[dev-dependencies]', '+[dependencies]', ' a = "1"'],
    ['Cargo.toml', ' [dependencies]', ' a = "1"', '+', '+[features]', '+x = []'],
    ['pyproject.toml', ' [tool.ruff]', ' line-length = 100', '+[tool.ruff.lint]', ' select = ["E"]'],
    ['pyproject.toml', '-[tool.poetry.dev-dependencies]', '+[tool.poetry.group.dev.dependencies]', ' a = "^1"'],
  ])('is not held in %s if they keep it, or stay packages or settings of the same tool: %s %s', (path, ...lines) => {
    expect(held(path, ...lines)).toBeNull();
  });
});

describe('a line of JSON', () => {
  it.each([
    ['+  "lock" /* x */: false,'],
    ['+  /*'],
    ['-  */'],
    ['+  lock: false,'],
    ["+  'lock': false,"],
    ['+  imports: { "x": \'npm:evil@1\' }'],
    ['   "x": // y', '+    "jsr:@evil/x@1",'],
    ['   "x":', '-    "jsr:@a/x@1",', '+    "jsr:@evil/x@1",'],
    ['+  "a": "b'],
  ])('is held if it has a comment or a form that is not read: %s %s', (...lines) => {
    for (const path of ['package.json', 'composer.json', 'deno.json'])
      expect(held(path, ...lines)).toContain('has a form that this rule cannot read');
  });

  it.each([
    ['+  // A comment, "with": words.'],
    ['   "exclude": [', '+    "**/*.ts", // generated'],
    ['+  "fmt": { "lineWidth": 120.5, "semi": false, "x": null },'],
    [String.raw`+  "description": "a \"b\" \\",`],
  ])('is not held in deno.json for a comment to its end, or for what JSON has: %s', (...lines) => {
    expect(held('deno.json', ...lines)).toBeNull();
  });
});
