import { MODIFIED, patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { firedReason } from '../../../policy/rules/support/run-pack-rule';

/** The reason of the rule about manifests for a hunk of one; null if it does not fire. */
const held = (path: string, ...lines: readonly string[]) =>
  firedReason('git_dependency_change', patchOf(path, MODIFIED, lines));

const RUNS = 'decides which code of the package runs';

describe('an entry point or command of a package', () => {
  it.each([
    ['package.json', '-  "main": "dist/index.js",', '+  "main": "dist/other.js",'],
    ['package.json', '+  "module": "dist/other.mjs",'],
    ['package.json', '+  "browser": "other.js",'],
    ['package.json', '+  "exports": "./other.js",'],
    ['package.json', '+  "bin": { "git": "bin/git" },'],
    ['package.json', '   "bin": {', '+    "tsc": "src/other"'],
    ['package.json', '-      "import": "./dist/a.mjs",', '+      "import": "./test/b.mjs",'],
    ['package.json', '-    "./x": "./dist/a.js",', '+    "./x": "./test/b.js",'],
    ['package.json', '   "browser": {', '+    "./dist/a.js": "./test/b.js"'],
    ['package.json', '     "import":', '-      "./dist/a.mjs"', '+      "./test/b.mjs"'],
    ['package.json', '     "./x": {', '+      "node": "./test/b.js",', '       "import": "./dist/a.js"'],
    ['package.json', '   "jest": {', '-    "main": "x.js"', '   },', '+  "main": "x.js",'],
    ['jsr.json', '-    ".": "./src/mod.ts"', '+    ".": "./test/mod.ts"'],
  ])('is held if it changes: %s: %s', (path, ...lines) => {
    expect(held(path, ...lines)).toContain(RUNS);
  });

  it.each([
    ['package.json', '-  "main": "dist/index.js"', '+  "main": "dist/index.js",', '+  "type": "module"'],
    ['package.json', '     "./a": "./dist/a.js",', '+    "./b": "./dist/b.js",'],
    ['package.json', '-      "types": "./a.d.ts",', '+      "types": "./b.d.ts",'],
    ['package.json', '   "scripts": {', '+    "main": "node main.js"'],
    ['jsr.json', '+    "./timeout": "./src/timeout.ts",'],
  ])('is not held if it stays the same, or is only added to what can be imported: %s: %s', (path, ...lines) => {
    expect(held(path, ...lines)).toBeNull();
  });

  it.each([
    ['pyproject.toml', ' [project.scripts]', '+cli = "shop.other:main"', 'is a setting of a tool'],
    ['pyproject.toml', ' [tool.hatch.envs.test.scripts]', '+test = "python x.py"', 'is a setting of a tool'],
    ['Cargo.toml', ' [lib]', '+path = "tests/other.rs"', 'decides which code is built or run'],
    ['Cargo.toml', ' [package]', '+default-run = "other"', 'decides which code is built or run'],
    ['composer.json', '   "config": {', '+    "vendor-dir": "src/x"', 'is a setting of what is installed and run'],
    ['composer.json', ' {', '+  "type": "composer-plugin",', 'is a setting of what is installed and run'],
    ['deno.json', '   "imports": {', '+    "@std/assert": "./src/other.ts"', 'is a setting of a tool'],
    ['deno.json', '   "imports": {', '+    "@std/": "./src/other/"', 'is a setting of a tool'],
    ['deno.json', '   "imports": {', '+    "https://a.example/b/": "/src/other/"', 'is a setting of a tool'],
    ['package.json', '   "setupFiles": [', '+    "./src/other.js"', 'is a setting of a tool'],
    ['package.json', '     "testEnvironment": "node",', '+    "setupFiles": ["other.js"],', 'is a setting of a tool'],
    ['go.mod', ' module a.example/b', '+toolchain go1.25.1-custom', 'is a directive'],
  ])('of another kind is held: %s: %s %s', (path, context, line, reason) => {
    expect(held(path, context, line)).toContain(reason);
  });

  it.each(['npx evil', 'bunx evil', 'pnpm dlx evil', 'a && npx -y evil', 'npm exec evil', 'pipx run evil'])(
    'is held if it runs a package that no manifest names: %s',
    (command) => {
      expect(held('package.json', `+    "lint": "${command}"`)).toContain('runs a package that no manifest names');
      expect(held('package.json', '+    "lint": "node npx.js"')).toBeNull();
    },
  );
});

describe('what a package publishes', () => {
  it.each([
    ['-  "private": true,'],
    ['+  "private": false,'],
    ['   "publishConfig": {', '+    "access": "public"'],
    ['+  "files": ["dist", "src"],'],
    ['   "files": [', '     "dist",', '+    "src"'],
    ['   "files": [', '+    "dist", "src"'],
    ['   "files": [', '-    "!dist/keys"'],
    ['   "files": [', '+    "!!keys"'],
    ['   "files":', '+  [ "dist", "src" ],'],
    ['   "keywords": [', '-    "src"', '   ],', '   "files": [', '+    "src"'],
    ['   "jest": {', '+    "private": true,', '   },', '-  "private": true'],
    ['+  "author": {', '   "private": true,', '+  },'],
    ['   "publishConfig": {', '+    "directory": "src"'],
  ])('is held if it changes: %s', (...lines) => {
    expect(held('package.json', ...lines)).toContain('decides what is published');
  });

  it('is held if lines below the hunk get into another object', () => {
    expect(held('package.json', ' {', '+  "author": {', '   "name": "x",')).toContain('moves the lines below');
  });

  it('is not held if it only moves within its object', () => {
    expect(held('package.json', '-  "private": true', '+  "private": true,', '+  "type": "module"')).toBeNull();
    expect(held('package.json', '   "files": [', '-    "dist"', '+    "dist",')).toBeNull();
    expect(held('package.json', '   "files": [', '     "dist",', '+    "!dist/keys"')).toBeNull();
    expect(held('package.json', '-  "files": ["dist"],', '+  "files": [', '+    "dist"', '+  ],')).toBeNull();
    expect(held('package.json', '+  "private": true,', '   "type": "module",', '-  "private": true')).toBeNull();
  });
});

describe('a line whose section or list the hunk does not show', () => {
  it.each([
    ['pyproject.toml', ' a = "b"', '+other = "shop.other:main"'],
    ['pyproject.toml', ' envlist = "py"', '+commands = [["python", "x.py"]]'],
    ['pyproject.toml', '   "x",', '+  "other",'],
    ['pyproject.toml', ' plugins = [', '+  "other",'],
    ['pyproject.toml', '   "x",', '+  "EVIL",'],
    ['pyproject.toml', ' a = 1', '+  addopts = "-p other"'],
    ['setup.cfg', '     a = shop.a:main', '+    cli = shop.other:main'],
    ['package.json', '       "esbuild",', '+      "other"'],
    ['pnpm-workspace.yaml', '   esbuild: true', '+  other: true'],
  ])('is read as the strictest: %s: %s %s', (path, context, line) => {
    expect(held(path, context, line)).toMatch(/is a setting|does not show/);
  });

  it.each([
    ['pyproject.toml', ' readme = "README.md"', '+keywords = ["shop"]'],
    ['pyproject.toml', ' keywords = [', '+  "shop",'],
    ['pyproject.toml', ' line-length = 100', '+ignore = ["E203"]'],
    ['pyproject.toml', ' [tool.ruff]', '+other = ["E203"]'],
    ['pyproject.toml', '   "E203",', '+  "B905",'],
    ['pyproject.toml', '   "x",', '+  "Programming Language :: Python :: 3.15",'],
    ['pyproject.toml', '   "x",', '+  "License :: OSI Approved :: MIT License",'],
    ['setup.cfg', '     x', '+    Programming Language :: Python :: 3.15'],
    ['setup.cfg', ' warn_unused_ignores = True', '+disallow_any_generics = True'],
    ['package.json', '   "cookie": [', '+    "./dist/types/helper/cookie"'],
    ['pyproject.toml', ' a = 1', '+# a comment'],
    ['setup.cfg', ' [metadata]', '+other = x'],
    ['package.json', '   "keywords": [', '+    "node.js"'],
    ['pnpm-workspace.yaml', ' packages:', '+  - apps/*'],
  ])('is not held if its key or its form says what it is: %s: %s %s', (path, context, line) => {
    expect(held(path, context, line)).toBeNull();
  });
});

it('A hunk of package.json with too many members to be read is held', () => {
  const lines = Array.from({ length: 101 }, () => `+${'['.repeat(200)}`);
  expect(held('package.json', ...lines)).toContain('which this rule does not read');
});

describe('a line that is too long to be read', () => {
  it.each([
    ['requirements.txt', `evil==1${' '.repeat(1000)}`],
    ['go.mod', `\texample.com/x/y v1.2.3 // ${'x'.repeat(1000)}`],
    ['package.json', `  "description": "${'x'.repeat(1000)}", "jest": { "setupFiles": ["./x.js"] },`],
    ['go.sum', `example.com/x v1.0.0 h1:aaa=${' '.repeat(5000)}`],
  ])('is held: %s', (path, line) => {
    expect(held(path, `+${line}`)).toContain('characters, which this rule does not read');
    expect(held(path, ` ${line}`, '+') ?? '').not.toContain('characters');
  });
});

describe('the version of Go', () => {
  it('is held if it becomes older, because that brings back older defaults of security', () => {
    expect(held('go.mod', '-go 1.25.0', '+go 1.20')).toContain('takes go back from "1.25.0" to "1.20"');
    expect(held('go.mod', '-go 1.25.0', '+ go 1.20')).toContain('takes go back');
    expect(held('go.mod', '-go 1.25.0')).toContain('removes the version of go');
    expect(held('go.mod', '-toolchain go1.25.1', '+toolchain go1.24.0')).toContain('takes toolchain back');
    expect(held('go.mod', '-go 1.24.0', '+go 1.25.0')).toBeNull();
  });
});

describe('a setting of Python that runs code or selects what is published', () => {
  it.each([
    ['pyproject.toml', ' [project]', '+scripts = { x = "evil:main" }'],
    ['pyproject.toml', ' [project]', '+scripts.x = "evil:main"'],
    ['pyproject.toml', ' [project]', '+entry-points.pytest11.x = "evil"'],
    ['pyproject.toml', ' [project . entry-points . pytest11]', '+x = "evil"'],
    ['pyproject.toml', ' [project."entry-points".pytest11]', '+x = "evil"'],
    ['pyproject.toml', String.raw` [project."scr\u0069pts"]`, '+x = "evil"'],
    ['pyproject.toml', ' [tool.mypy]', String.raw`+"plug\u0069ns" = ["evil.py"]`],
    ['pyproject.toml', ' [tool.mypy]', '+python_executable = "./evil"'],
    ['pyproject.toml', ' [tool.coverage]', '+run = { plugins = ["evil"] }'],
    ['pyproject.toml', ' [tool.coverage]', '+run . plugins = ["evil"]'],
    ['pyproject.toml', ' [tool.hatch.version]', '+source = "code"'],
    ['pyproject.toml', ' [tool.setuptools]', '+package-data = { x = [".env"] }'],
    ['pyproject.toml', ' [tool.poetry]', '+include = [".env"]'],
    ['pyproject.toml', ' x = "x.cli:main"', '+name = "evil:main"'],
    ['setup.cfg', ' [mypy]', '+PLUGINS = evil.py'],
    ['setup.cfg', ' [mypy]', '+ plugins = evil.py'],
    ['setup.cfg', ' [flake8]', '+ [tool:pytest]', '+ python_files = evil.py'],
    ['setup.cfg', ' [metadata]', '+version = attr: evil.version'],
    ['setup.cfg', ' [options.package_data]', '+x = .env'],
  ])('is held in each form that the file allows: %s: %s', (path, ...lines) => {
    expect(held(path, ...lines)).toContain('is a setting of a tool');
  });
});
