import { movePatch } from '../../../../dev/fixtures/git-repository';
import { MODIFIED, NEW, patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { firedReason } from '../../../policy/rules/support/run-pack-rule';

const held = (...patches: readonly string[]) => firedReason('git_dependency_change', patches.join(''));
const advised = (...patches: readonly string[]) => firedReason('git_dependency_update', patches.join(''));
const edit = (path: string, ...lines: readonly string[]): string => patchOf(path, MODIFIED, lines);

/** Names a package that the lock file already has. */
const NPM_LOCK = edit('package-lock.json', '-  "x": 1', '+  "x": 2', '+        "zod": "^4.0.0",');

describe('a new package', () => {
  it.each([
    ['package.json', '+    "left-pad": "^1.3.0",', 'adds the package "left-pad" "^1.3.0"'],
    ['package.json', '+    "@acme/ui": "latest",', 'adds the package "@acme/ui" "latest"'],
    ['Cargo.toml', '+serde = { version = "1.0", features = ["derive"] }', 'adds the package "serde" "1.0"'],
    ['go.mod', '+\tgithub.com/x/y v1.2.3', 'adds the package "github.com/x/y" "v1.2.3"'],
    ['pyproject.toml', '+  "requests>=2.31",', 'adds the package "requests" ">=2.31"'],
    ['requirements.txt', '+flask==3.0.0', 'adds the package "flask" "3.0.0"'],
    ['Gemfile', '+gem "rails", "~> 7.1"', 'adds the package "rails" "~> 7.1"'],
    ['Cargo.toml', '+[target.x86.dev-dependencies.serde]', 'adds the package "serde" without a version'],
    ['package.json', '+  "private": true, "dependencies": { "zod": "^4.0.0" }', 'adds the package "zod" "^4.0.0"'],
    ['package.json', '+    "zo\\u0064": "^4.0.0"', 'adds the package "zod" "^4.0.0"'],
    ['pnpm-workspace.yaml', '+  zod: ^4.0.0', 'adds the package "zod" "^4.0.0"'],
  ])('in %s is held with name and version: %s', (path, line, reason) => {
    expect(held(edit(path, line))).toContain(reason.replace('"3.0.0"', '"==3.0.0"'));
  });

  it('is read where its name and its version are in different lines', () => {
    expect(held(edit('package.json', '+    "zod":', '+      "^4.0.0"'))).toContain('("package.json" line 1)');
  });

  it('is not new if the workspace has it: in another manifest, or in a lock file that names and does not add it', () => {
    const added = edit('packages/a/package.json', '+    "zod": "^4.0.0",');
    expect(
      held(added, edit('packages/b/package.json', '     "zod": "^4.0.0",', '+    "sideEffects": true'), NPM_LOCK),
    ).toBeNull();
    expect(held(added, NPM_LOCK)).toBeNull();
    const lock = edit('package-lock.json', '+    "node_modules/zod": {', '+      "version": "4.0.1",');
    expect(held(added, lock)).toContain('adds the package "zod" "^4.0.0" ("packages/a/package.json" line 1)');
  });

  it('is held if its lock file changes and does not name it', () => {
    const lock = edit('package-lock.json', '-  "x": 1', '+  "x": 2');
    expect(held(edit('package.json', '+    "zod": "^4.0.0",'), lock)).toContain('adds the package "zod"');
  });

  it.each([
    ['package.json', '"pino-node": "^1.0.0"', 'pino-node'],
    ['package.json', '"JSON": "  >= 1.0.0  < 2"', 'JSON'],
    ['package.json', '"semver@^7": "5.0.1"', 'semver@^7'],
    ['package.json', '"**/semver": "5.0.1"', '**/semver'],
    ['Cargo.toml', 'evil.version = "1"', 'evil.version'],
    ['Cargo.toml', "evil = '1'", 'evil'],
    ['go.mod', 'require `example.com/evil` v1.0.0', 'example.com/evil'],
    ['Gemfile', 'gem("evil", "1.0")', 'evil'],
    ['composer.json', '"evil/pkg": "dev-main"', 'evil/pkg'],
    ['deno.json', '"x": "jsr:@evil/x"', '@evil/x'],
    ['setup.cfg', '    evil>=1', 'evil'],
    ['requirements/base.txt', 'evil', 'evil'],
    ['requirements.txt', 'evil (>=1)', 'evil'],
    ['requirements.txt', '3to2', '3to2'],
    ['requirements.txt', 'yarn', 'yarn'],
    ['requirements.txt', 'evil==1 --hash=sha256:abc', 'evil'],
    ['Gemfile', 'gem "node", "~> 1"', 'node'],
    ['Cargo.toml', 'python = "1"', 'python'],
    ['Cargo.toml', "'evil' = '1'", 'evil'],
    ['Cargo.toml', "[dependencies . 'evil']", 'evil'],
    ['package.json', '"python": "1.0.0"', 'python'],
    ['constraints.txt', 'evil==1', 'evil'],
  ])('is read in every spelling: %s %s', (path, line, name) => {
    expect(held(edit(path, `+${line}`))).toContain(`adds the package "${name}"`);
  });

  it('behind a key of Deno is the one that the value names', () => {
    expect(held(edit('deno.json', '-    "zod": "npm:zod@4"', '+    "zod": "npm:evil@4"'))).toContain('package "evil"');
  });

  it.each([
    [' dependencies = [', '+  "evil",'],
    ['   "flask>=3",', '+  \'evil[all]; python_version < "4"\','],
    [' [dependency-groups]', '+dev = [{ include-group = "x" }, "evil"]'],
    [' [build-system]', '+requires = ["evil"]'],
    [' [project]', '+optional-dependencies.x = ["evil"]'],
    [' [project]', '+optional-dependencies = { x = ["evil"] }'],
    [' [project]', '+"dependencies" = ["evil"]'],
    [' ["project" . optional-dependencies]', '+x = ["evil"]'],
    [' dependencies = [', '   "a", # ]', '+  "evil",'],
    [' dependencies = [', '   "a", # it\'s ]', '+  "evil",'],
  ])('of Python is read without a version where the hunk shows a list of packages: %s', (...lines) => {
    expect(held(edit('pyproject.toml', ...lines))).toContain('adds the package "evil" without a version');
  });

  it.each([
    [' [options]', '+install_requires = evil'],
    [' install_requires =', '     flask', '+    evil'],
    [' setup_requires =', '+    evil[all]; python_version < "4"'],
    [' [options.extras_require]', ' test =', '+    evil'],
    [' [options]', '+INSTALL_REQUIRES = evil'],
    [' [options]', '+install-requires: evil'],
  ])('of setup.cfg is read without a version where the hunk shows a list of packages: %s', (...lines) => {
    expect(held(edit('setup.cfg', ...lines))).toContain('adds the package "evil" without a version');
  });

  it.each([
    [' dependencies = [', '+  "yarn>=1",', 'yarn" ">=1"'],
    [' dependencies = [', '+  "evil (>=1)",', 'evil" ">=1"'],
    [' dependencies = [', String.raw`+  "ev\u0069l",`, 'ev'],
  ])('of Python is read with its version, or with all of its text, in each form: %s %s', (list, line, name) => {
    expect(held(edit('pyproject.toml', list, line))).toContain(`adds the package "${name}`);
  });

  it.each([
    [' [options]', ' packages =', '+    evil'],
    [' install_requires =', '     flask', ' packages =', '+    evil'],
    [' [options.extras_require]', ' [flake8]', ' ignore =', '+    E203'],
    [' [options]', '+python_requires = >=3.10', '+zip_safe = False'],
  ])('of setup.cfg is not an item of another list or a setting: %s', (...lines) => {
    expect(held(edit('setup.cfg', ...lines))).toBeNull();
  });

  it.each([
    [' keywords = [', '+  "evil",'],
    [' [tool.ruff]', '+select = ["E", "F"]'],
    [' dependencies = [', '-  "flask",', '   "x",', '+  "flask",', ' ]', ' classifiers = [', '+  "Topic",'],
    ['+minversion = "6.0"', '+current_version = "1.0.0"'],
  ])('of Python is not a word of another list, a setting or a line that moves: %s', (...lines) => {
    expect(held(edit('pyproject.toml', ...lines))).toBeNull();
  });

  it('is not read from settings, catalogue references or pages', () => {
    for (const line of ['  "version": "1.2.3",', '  "node": ">=22",', '  "zod": "catalog:",', '  "a": "workspace:*",'])
      expect([line, held(edit('package.json', `+${line}`))]).toEqual([line, null]);
    expect(held(edit('package.json', '+  "homepage": "https://example.com/",'))).toBeNull();
  });
});

describe('a line of a manifest', () => {
  it.each([
    ['package.json', '"zod": "npm:other@4.0.0"', 'under another name'],
    ['pnpm-workspace.yaml', '  zod: npm:other@4.0.0', 'under another name'],
    ['Cargo.toml', 'serde = { version = "1.0", package = "other" }', 'under another name'],
    ['package.json', '"packageManager": "pnpm@https://example.com/pnpm.tgz"', 'from a URL'],
    ['package.json', '"zod": "ssh://example.com/zod.git#v4"', 'from git'],
    ['Gemfile', 'gem "rails", git: "https://example.com/rails"', 'from git'],
    ['Gemfile', 'gem "rails", source: "https://example.com"', 'another registry'],
    ['pnpm-workspace.yaml', 'registries:', 'another registry'],
    ['pnpm-workspace.yaml', 'onlyBuiltDependencies:', 'run scripts'],
    ['package.json', '"trustedDependencies": ["zod"]', 'run scripts'],
    ['package.json', '"postinst\\u0061ll": "node setup.js"', 'runs a script'],
    ['package.json', '"postinstall"', 'runs a script'],
    ['package.json', '"license": "MIT", "scripts": { "postinstall": "node setup.js" }', 'runs a script'],
    ['package.json', '"prepack": "node setup.js"', 'runs a script when'],
    ['package.json', '"lint-staged": { "*": "node setup.js" }', 'runs a script when'],
    ['pyproject.toml', 'build-backend = "backend"', 'code that a build runs'],
    ['pyproject.toml', 'build-system = { requires = [], build-backend = "evil" }', 'code that a build runs'],
    ['pyproject.toml', 'build-system.backend-path = ["."]', 'code that a build runs'],
    ['pyproject.toml', '"build-backend" = "evil"', 'code that a build runs'],
    ['pyproject.toml', '[tool.hatch.build.targets.wheel.hooks.custom]', 'code that a build runs'],
    ['pyproject.toml', '[tool.hatch.metadata.hooks.custom]', 'code that a build runs'],
    ['pyproject.toml', '[tool.setuptools.cmdclass]', 'code that a build runs'],
    ['pyproject.toml', 'cmdclass = { build_py = "evil.Build" }', 'code that a build runs'],
    ['pyproject.toml', '[tool.poetry.build]', 'code that a build runs'],
    ['pyproject.toml', 'custom-hook = "evil.py"', 'code that a build runs'],
    ['setup.cfg', 'cmdclass =', 'code that a build runs'],
    ['Cargo.toml', 'package.build = "evil.rs"', 'code that a build runs'],
    ['Cargo.toml', 'package = { name = "x", build = \'evil.rs\' }', 'code that a build runs'],
    ['Cargo.toml', "serde = { git = 'https://example.com/serde' }", 'from git'],
    ['Cargo.toml', 'serde = { "git" = "https://example.com/serde" }', 'from git'],
    ['Cargo.toml', "serde = { path = '../evil' }", 'local folder or archive'],
    ['Cargo.toml', "serde = { package = 'evil' }", 'under another name'],
    ['Cargo.toml', '"package" = "evil"', 'under another name'],
    ['pyproject.toml', "zod = { url = 'https://example.com/zod.whl' }", 'from a URL'],
    ['package.json', '"zod": "user/zod"', 'from GitHub'],
    ['package.json', '"@acme/ui": "user/zod.js#v4"', 'from GitHub'],
    ['package.json', '"main": "index.js", "zod": "user/zod"', 'from GitHub'],
    ['package.json', '"zod": " user/zod"', 'from GitHub'],
    ['package.json', '"zod": " https://example.com/zod.tgz"', 'from a URL'],
    ['package.json', '"zod": "vendor.tgz"', 'local folder or archive'],
    ['package.json', '"zod": "exec:./make.js"', 'local folder or archive'],
    ['package.json', '"zod": "jsr:@evil/zod@4"', 'under another name'],
    ['package.json', '"zod": "workspace:evil@*"', 'under another name'],
    ['package.json', '"zod@4.0.0": "patches/zod.patch"', 'replaces a package'],
    ['package.json', '"pnpm:devPreinstall": "node setup.js"', 'runs a script'],
    ['package.json', '"dependencies": "node setup.js"', 'runs a script'],
    ['pnpm-workspace.yaml', 'overrides:', 'replaces a package'],
    ['pnpm-workspace.yaml', 'configDependencies:', 'code that runs on installation'],
    ['pnpm-workspace.yaml', 'verifyStoreIntegrity: false', 'turns off a check'],
    ['pnpm-workspace.yaml', 'catalog: { evil: 1.0.0 }', 'a form that this rule cannot read'],
    ['pnpm-workspace.yaml', '  evil: &a 1.0.0', 'a form that this rule cannot read'],
    ['pnpm-workspace.yaml', '  "\\x65vil": 1.0.0', 'a form that this rule cannot read'],
    ['pnpm-workspace.yaml', '    1.0.0', 'a form that this rule cannot read'],
    ['.yarnrc.yml', 'yarnPath: ./evil.cjs', 'code that runs on installation'],
    ['.npmrc', '@acme:registry=https://example.com/', 'another registry'],
    ['.npmrc', 'ignore-scripts=false', 'run scripts'],
    ['requirements.txt', '-r other.txt', 'option of pip'],
    ['requirements.txt', 'src/evil', 'option of pip'],
    ['requirements.txt', '${EVIL}', 'option of pip'],
    ['requirements.txt', 'flask --config-settings=x=y', 'option of pip'],
    ['requirements.txt', './evil.whl', 'option of pip'],
    ['requirements.txt', 'flask @ ${HOME}/flask', 'option of pip'],
    ['go.mod', '\tgithub.com/x/y => ../evil', 'replaces a package'],
    ['Cargo.toml', '[replace]', 'replaces a package'],
    ['Cargo.toml', 'package = "evil"', 'under another name'],
    ['Cargo.toml', 'dependencies = { evil = "1" }', 'under another name'],
    ['Gemfile', 'gem "rails", path: "evil"', 'local folder'],
    ['Gemfile', 'gem "rails", :github => "evil/rails"', 'from git'],
    ['Gemfile', 'eval_gemfile "evil.rb"', 'Ruby code'],
    ['Gemfile', 'gem "rails", "1" unless exec "evil"', 'Ruby code'],
    ['Gemfile', 'group :test do gem "evil" end', 'Ruby code'],
    ['Gemfile', 'gem "rails", require: "./evil"', 'Ruby code'],
    ['package.json', '"postversion": "node setup.js"', 'gets a version'],
    ['package.json', '"version": "node setup.js"', 'gets a version'],
    ['package.json', '"heroku-postbuild": "node setup.js"', 'on deployment'],
    ['pyproject.toml', 'zod = { path = "evil" }', 'local folder'],
    ['Gemfile', 'gem "rails", " #{`evil`}"', 'Ruby code'],
    ['composer.json', '"repositories": { "packagist.org": false }', 'another registry'],
    ['composer.json', '"post-install-cmd": "php setup.php"', 'runs a script'],
    ['composer.json', '"evil/plugin": true', 'runs a script'],
  ])('is held if it installs or runs other code, however it is written: %s %s', (path, line, reason) => {
    expect(held(edit(path, `+${line}`), NPM_LOCK)).toContain(reason);
  });

  it.each([
    ['deno.json', '"zod": "npm:zod@4.0.0"'],
    ['pyproject.toml', '[tool.ruff.lint]'],
    ['Cargo.toml', "name = 'git'"],
    ['setup.cfg', 'packages = find:'],
    ['package.json', '"repository": { "type": "git", "url": "git+https://example.com/a.git" },'],
    ['package.json', '"author": "A <a@example.com> (https://example.com)",'],
    ['package.json', '"build": "tsc -b"'],
    ['package.json', '"types": "dist/index.d.ts", "source": "src/index.ts"'],
    ['package.json', '"repository": "user/zod", "lint": "eslint src/a", "default": "./dist/index.js"'],
    ['package.json', '"link:all": "node x.js", "git:hooks": "eslint", "build:npm:x": "tsc", "lint": "eslint"'],
    ['pnpm-workspace.yaml', "  - '!**/test/**'"],
    ['.yarnrc.yml', '# C:\\yarn, { and }'],
    ['requirements.txt', '    --hash=sha256:abc \\'],
    ['docs/requirements/login.txt', '- The user must log in.'],
    ['composer.json', '"type": "library", "pre-commit-fix": "phpcbf"'],
  ])('is not held if it does neither: %s %s', (path, line) => {
    expect(held(edit(path, `+${line}`), NPM_LOCK)).toBeNull();
  });
});

describe('a line of a Gemfile', () => {
  it.each([
    '# x',
    'group :test do',
    'end',
    "ruby '3.3.0'",
    'gem "a", "~> 1", platforms: %i[ mri ], :require => false # x',
  ])('is not held if all that it does is to name a package: %s', (line) => {
    expect(held(edit('Gemfile', ' gem "a"', `+  ${line}`), edit('Gemfile.lock', '+  a (~> 1)'))).toBeNull();
  });
});

describe('a command or file of the package', () => {
  it.each(['scripts', 'bin'])('is not a package from GitHub if the hunk shows that it is in %s', (member) => {
    const line = '+    "start": "bin/start"';
    expect(held(edit('package.json', `   "${member}": {`, line)) ?? '').not.toContain('from GitHub');
    expect(held(edit('package.json', `   "${member}": {`, '   },', line))).toContain('from GitHub');
    expect(held(edit('package.json', `   "${member}": {`, '   "dependencies": {', line))).toContain('from GitHub');
  });
});

describe('a setting', () => {
  it.each([
    ['.npmrc', '@acme:registry=https://npm.acme.example/', 'another registry'],
    ['.npmrc', 'ignore-scripts=true', 'run scripts'],
    ['.yarnrc.yml', 'enableScripts: false', 'run scripts'],
  ])('is held if it is removed and decided what is installed: %s %s', (path, line, reason) => {
    expect(held(edit(path, `-${line}`))).toContain(reason);
    expect(held(edit(path, '-save-exact=true'))).toBeNull();
  });
});

describe('an item of a list', () => {
  it.each([
    ['pnpm-workspace.yaml', ' onlyBuiltDependencies:', '   - esbuild', '+  - evil', 'run scripts', ' packages:'],
    ['.yarnrc.yml', ' plugins:', '   - ./a.cjs', '+  - ./evil.cjs', 'code that runs on installation', ' packages:'],
    [
      'package.json',
      '   "trustedDependencies": [',
      '     "esbuild",',
      '+    "evil",',
      'run scripts',
      '   "keywords": [',
    ],
  ])('is held like the name of its list: %s', (path, list, item, line, reason, other) => {
    expect(held(edit(path, list, item, line))).toContain(reason);
    expect(held(edit(path, other, item, line))).toBeNull();
  });
});

describe('a value in the line after its name', () => {
  it.each([
    ['"https://example.com/zod.tgz"', 'from a URL'],
    ['"user/zod"', 'from GitHub'],
    ['"npm:other@4.0.0"', 'under another name'],
  ])('is held like one in the same line: %s', (value, reason) => {
    expect(held(edit('package.json', '+    "zod":', `+      ${value}`), NPM_LOCK)).toContain(
      `${reason} ("package.json" line 2)`,
    );
    expect(held(edit('package.json', '     "zod":', '-  "4"', `+  ${value}`), NPM_LOCK)).toContain(reason);
    expect(held(edit('package.json', '+"zod"', `+: ${value}, "a": ""`), NPM_LOCK)).toContain(reason);
  });
});

describe('a manifest or lock file that is not read', () => {
  it.each([
    ...['pom.xml', 'app/build.gradle', 'build.gradle.kts', 'src/App.csproj', 'Directory.Packages.props', 'Podfile'],
    ...['Package.swift', 'mix.exs', 'pubspec.yaml', 'lib.gemspec', 'setup.py', 'conanfile.txt', 'MODULE.bazel'],
    ...['Podfile.lock', 'packages.lock.json', 'flake.lock', 'WORKSPACE', '.pnpmfile.cjs', 'package.json5', 'uv.toml'],
    ...['gradle/libs.versions.toml', 'NuGet.Config', '.cargo/config.toml', '.yarnrc', 'bunfig.toml', 'pip.conf'],
    ...['gradle/wrapper/gradle-wrapper.properties', 'package.yaml', 'import_map.json'],
  ])('is held whatever changes in it: %s', (path) => {
    const what = `changes a file that decides what is installed, and that this rule cannot read ("${path}" line`;
    expect(held(edit(path, ' a', '+', '+b'))).toContain(`${what} 3)`);
    expect(held(edit(path, '-a'))).toContain(what);
  });

  it.each(['src/pom.xml.md', 'gradle.ts', 'workspaces', 'docs/podfile.txt', 'packages.json'])(
    'is recognized by its whole name: %s',
    (path) => {
      expect(held(edit(path, '+b'))).toBeNull();
    },
  );
});

describe('a file that becomes a manifest or lock file', () => {
  it.each([
    ['rename', 'notes.json', 'package.json'],
    ['rename', 'examples/a/package.json', 'package.json'],
    ['copy', 'examples/a/package.json', 'examples/b/package.json'],
    ['rename', 'a.txt', 'pom.xml'],
    ['rename', 'old.lock', 'yarn.lock'],
  ] as const)('is held: a %s from %s to %s', (change, from, to) => {
    expect(held(movePatch(from, to, change))).toContain(`gets the content of "${from}"`);
  });

  it.each([
    ['packages/a/package.json', 'packages/b/package.json'],
    ['package.json', 'old/package.json'],
    ['package.json', 'notes.json'],
  ])('is not held if its package moves, or if it was one before: %s to %s', (from, to) => {
    expect(held(movePatch(from, to))).toBeNull();
  });
});

describe('an update', () => {
  const update = edit('package.json', '-    "zod": "^4.0.0",', '+    "zod": "^4.1.0",');

  it('is only shown, with name, old and new version, if its lock file changes too', () => {
    expect(held(update, NPM_LOCK)).toBeNull();
    expect(advised(update, NPM_LOCK)).toBe(
      'the package "zod" changes from "^4.0.0" to "^4.1.0" ("package.json" line 1)',
    );
  });

  it('is held without its lock file, or to an older version', () => {
    expect(held(update)).toContain('its lock file does not');
    const back = edit('package.json', '-    "zod": "^4.1.0",', '+    "zod": "^3.9.0",');
    expect(held(back, NPM_LOCK)).toContain('takes the package "zod" back from "^4.1.0" to "^3.9.0"');
  });

  it('of a tool that runs on a commit is an update like any other', () => {
    const tool = edit('package.json', '-    "lint-staged": "^15.0.0",', '+    "lint-staged": "^16.0.0",');
    expect(held(tool, NPM_LOCK)).toBeNull();
  });

  it('in a catalogue changes the lock file of its workspace', () => {
    const catalogue = edit('pnpm-workspace.yaml', '-  zod: ^4.0.0', '+  zod: ^4.1.0');
    const lock = edit(
      'pnpm-lock.yaml',
      '-  zod@4.0.0:',
      '-    resolution: {integrity: sha512-a}',
      '+  zod@4.1.0:',
      '+    resolution: {integrity: sha512-b}',
    );
    expect(held(catalogue, lock)).toBeNull();
    expect(advised(catalogue, lock)).toContain('the package "zod" changes from "4.0.0" to "4.1.0"');
  });

  it.each([
    ['crates/a/Cargo.toml', 'Cargo.lock', ['-serde = "1.0"', '+serde = "1.1"']],
    ['svc/go.mod', 'svc/go.sum', ['-\tgithub.com/x/y v1.2.3', '+\tgithub.com/x/y v1.2.4']],
    ['libs/a/pyproject.toml', 'uv.lock', ['-  "requests>=2.31",', '+  "requests>=2.32",']],
  ])('in the workspace member %s belongs to %s', (manifest, lock, lines) => {
    expect(held(edit(manifest, ...lines), edit(lock, '+# changed'))).toBeNull();
    expect(held(edit(manifest, ...lines))).toContain('its lock file does not');
  });
});

describe('a lock file', () => {
  it('is held if a checksum changes without the version', () => {
    const npm = ['     "node_modules/zod": {', '       "version": "4.0.1",', '-      "integrity": "sha512-aaa"'];
    expect(held(edit('package-lock.json', ...npm, '+      "integrity": "sha512-bbb"'))).toContain(
      'the checksum of "zod" "4.0.1" changes or is removed, but not its version ("package-lock.json" line 3)',
    );
    expect(held(edit('package-lock.json', ...npm))).toContain('the checksum of "zod" "4.0.1" changes or is removed');
    expect(held(edit('go.sum', '-x.org/y v1.0.0 h1:aaa=', '+x.org/y v1.0.0 h1:bbb='))).toContain('the checksum of');
    const cargo = [' name = "serde"', ' version = "1.0.0"', '-checksum = "aa"', '+checksum = "bb"'];
    expect(held(edit('Cargo.lock', ...cargo))).toContain('the checksum of "serde" "1.0.0" changes');
  });

  it('is held if it adds a package and no manifest changes, but not if it updates one', () => {
    const entry = (version: string, kind: string): string[] => [
      `${kind}[[package]]`,
      `${kind}name = "serde"`,
      `${kind}version = "${version}"`,
    ];
    expect(held(patchOf('Cargo.lock', NEW, entry('1.0.0', '+')))).toContain(
      'adds the package "serde" "1.0.0", but no manifest changes',
    );
    expect(held(edit('Cargo.lock', ...entry('1.0.0', '-'), ...entry('1.0.1', '+')))).toBeNull();
  });

  it('is held if it adds a package and a manifest changes, but not the dependencies of one', () => {
    const lock = edit('package-lock.json', '+    "node_modules/evil": {', '+      "version": "1.0.0",');
    const reason = 'adds the package "evil" "1.0.0", but no manifest changes its dependencies';
    expect(held(edit('package.json', '+    "lint": "eslint .",'), lock)).toContain(reason);
    expect(held(edit('package.json', '+    "evil": "a-tag",'), lock)).toContain(reason);
    const own = edit('package-lock.json', '+    "packages/c": {', '+      "version": "1.0.0",');
    expect(held(patchOf('packages/c/package.json', NEW, ['+{ "version": "1.0.0" }']), own)).toBeNull();
  });

  it.each([
    [
      'package-lock.json',
      '     "node_modules/zod": {',
      '+      "resolved": "https://registry.npmjs.org/evil/-/evil-4.0.1.tgz",',
    ],
    [
      'package-lock.json',
      '     "node_modules/zod": {',
      '+      "resolved": "https://registry.npmjs.org/zod/-/../../evil/-/a.tgz",',
    ],
    ['yarn.lock', ' zod@^4.0.0:', '+  resolved "https://registry.yarnpkg.com/evil/-/evil-4.0.1.tgz#aa"'],
    ['yarn.lock', ' "zod@npm:^4.0.0":', '+  resolution: "evil@npm:4.0.1"'],
  ])('is held if the archive of a package is that of another: %s %s %s', (path, ...lines) => {
    expect(held(edit(path, ...lines))).toContain('installs the archive of "evil" as "zod"');
  });

  it.each([
    [
      'package-lock.json',
      '     "node_modules/a": {',
      '       "name": "@b/c",',
      '+      "resolved": "https://registry.npmjs.org/@b/c/-/c-1.0.0.tgz",',
    ],
    [
      'package-lock.json',
      '     "a": {',
      '+      "version": "npm:b@1.0.0",',
      '+      "resolved": "https://registry.npmjs.org/b/-/b-1.0.0.tgz",',
      '-      "version": "npm:b@0.9.0",',
      ' "a": {',
    ],
    ['yarn.lock', ' "a@npm:@b/c@^1.0.0":', '+  resolved "https://registry.yarnpkg.com/@b/c/-/c-1.0.0.tgz#aa"'],
    ['yarn.lock', ' "a@npm:b@^1.0.0":', '+  resolution: "b@npm:1.0.0"'],
    ['yarn.lock', ' "a@workspace:x":', '+  resolution: "a@workspace:x"'],
  ])('may state that a package has another name: %s %s', (path, ...lines) => {
    expect(held(edit('package.json', '-    "x": "1"', '+    "x": "2"'), edit(path, ...lines))).toBeNull();
  });

  it('may name the public registries and no other host', () => {
    const resolved = (host: string): string => `+      "resolved": "https://${host}/zod/-/zod-4.0.1.tgz",`;
    expect(held(edit('package-lock.json', resolved('registry.npmjs.org')))).toBeNull();
    expect(held(edit('package-lock.json', resolved('evil.example')))).toContain('names the host "evil.example"');
  });

  it.each([
    '"resolved": "https:\\/\\/evil.example/a.tgz"',
    '"resolution": "zod@npm:4.0.0::__archiveUrl=https%3A%2F%2Fevil.example%2Fa.tgz"',
    '"resolved": "https://evil.example\\\\@registry.npmjs.org/a.tgz"',
    '"resolved": "https://registry.npmjs.org:x@evil.example/a.tgz"',
    '"resolved": "https://evil.example/a.tgz", "funding": ""',
    '"url": "https://example.com", "resolved": "https://evil.example/a.tgz"',
    '"a": "https://registry.npmjs.org/a.tgz", "b": "https://evil.example/b.tgz"',
  ])('names a host however it is written: %s', (line) => {
    expect(held(edit('package-lock.json', `+      ${line}`))).toContain('names the host "evil.example');
  });

  it.each([
    ['package-lock.json', '      "deprecated": "Moved, see https://example.com/new"'],
    ['package-lock.json', '      "funding": { "url": "https://example.com/sponsor" }'],
    ['package-lock.json', '      "resolved": "https://registry.npmjs.org:443/zod/-/zod-4.0.1.tgz",'],
    ['pnpm-lock.yaml', '    deprecated: See https://example.com/new'],
  ])('may name pages about a package: %s %s', (path, line) => {
    expect(held(edit(path, `+${line}`))).toBeNull();
  });

  it('of Composer may name archives at code hosts, the pages of funding, and no other host', () => {
    const known = [
      '      "url": "https://api.github.com/repos/Seldaek/monolog/zipball/abc",',
      '      "notification-url": "https://packagist.org/downloads/",',
      '      "homepage": "https://seld.be"',
      '      "url": "https://tidelift.com/funding/github/packagist/monolog/monolog",',
    ];
    expect(held(edit('composer.lock', ...known.map((line) => `+${line}`)))).toBeNull();
    expect(held(edit('composer.lock', '+      "url": "https://evil.example/monolog.zip",'))).toContain(
      'names the host "evil.example"',
    );
  });
});

describe('a lock file that installs a package from the tree', () => {
  it.each([
    ['package-lock.json', '      "resolved": "src/evil",'],
    ['package-lock.json', '      "link": true'],
    ['pnpm-lock.yaml', '    resolution: {directory: src/evil, type: directory}'],
    ['pnpm-lock.yaml', '        version: link:src/evil'],
    ['yarn.lock', '"zod@file:./src/evil":'],
    ['yarn.lock', '  resolution: "zod@patch:zod@npm%3A4.0.0#./src/evil.patch"'],
    ['bun.lock', '    "zod": ["zod@file:src/evil", {}],'],
    ['poetry.lock', 'type = "directory"'],
    ['uv.lock', 'source = { directory = "src/evil" }'],
    ['pdm.lock', 'path = "./src/evil"'],
    ['pylock.toml', 'directory = { path = "src/evil" }'],
    ['Pipfile.lock', '            "path": "./src/evil"'],
    ['composer.lock', '                "type": "path",'],
    ['Gemfile.lock', '  remote: src/evil'],
  ])('is held: %s: %s', (path, line) => {
    expect(held(edit(path, `+${line}`))).toContain('installs a package from a local folder or archive');
    expect(held(edit(path, `-${line}`, '+'))).toBeNull();
  });

  it.each([
    ['package-lock.json', '      "resolved": "https://registry.npmjs.org/zod/-/zod-4.0.0.tgz",'],
    ['pnpm-lock.yaml', '    resolution: {integrity: sha512-abc, tarball: https://registry.npmjs.org/zod.tgz}'],
    ['yarn.lock', '  resolution: "fsevents@patch:fsevents@npm%3A2.3.2#~builtin<compat/fsevents>::version=2.3.2"'],
    ['uv.lock', 'source = { editable = "." }'],
    ['composer.lock', '                "type": "zip",'],
    ['Gemfile.lock', '  remote: https://rubygems.org/'],
    ['Gemfile.lock', '  remote: .'],
  ])('is not held for a package of the registry, or for the package itself: %s: %s', (path, line) => {
    expect(held(edit(path, `+${line}`))).toBeNull();
  });
});

describe('a line of go.mod or go.work', () => {
  it.each([
    ['go.mod', 'tool example.com/x/cmd/y', 'is a directive'],
    ['go.mod', '\texample.com/x/cmd/y', 'is a directive'],
    ['go.mod', 'godebug x509sha1=1', 'is a directive'],
    ['go.mod', 'ignore ./internal', 'is a directive'],
    ['go.mod', 'ignore v1', 'is a directive'],
    ['go.mod', 'require localhost/evil v1.0.0', 'is a directive'],
    ['go.work', 'use ./x', 'takes packages from a folder'],
    ['go.work', '\t./x', 'takes packages from a folder'],
  ])('is held if it decides more than a version: %s: %s', (path, line, reason) => {
    expect(held(edit(path, `+${line}`))).toContain(reason);
  });

  it.each([
    ['go.mod', 'go 1.25.0'],
    ['go.mod', 'toolchain go1.25.1'],
    ['go.mod', 'require ('],
    ['go.mod', ')'],
    ['go.mod', '// note'],
    ['go.mod', 'retract v1.0.0 // broken'],
    ['go.work', 'go 1.25.0'],
  ])('is not held otherwise: %s: %s', (path, line) => {
    expect(held(edit(path, `+${line}`))).toBeNull();
  });
});

describe('pnpm-workspace.yaml', () => {
  it.each(['nodeOptions: --require ./x.js', 'scriptShell: ./x', 'minimumReleaseAge: 1440', "'strictDepBuilds': true"])(
    'is held if a setting is added or removed: %s',
    (line) => {
      for (const sign of ['+', '-'])
        expect(held(edit('pnpm-workspace.yaml', `${sign}${line}`))).toContain('is a setting');
    },
  );

  it.each([
    [' onlyBuiltDependencies:', '   - a', '   - b', '+  - evil'],
    ['   - a', '+  - evil'],
    ['   - a', "+  - '@evil/x'"],
    [' overrides:', '+  zod: evil'],
    ['   zod: 4.0.0', '+  evil: a-tag'],
    [' catalog:', '+  evil: a-tag'],
    [' packages:', '+  - ../..'],
    [' allowBuilds:', '   esbuild: true', '-  evil: false'],
  ])(
    'is held for a line that is neither a folder nor a version in a catalogue, as far as the hunk shows: %s',
    (...lines) => {
      expect(held(edit('pnpm-workspace.yaml', ...lines))).toMatch(/is a setting|run scripts|does not show/);
    },
  );

  it.each(['packages:', 'catalog:', 'catalogs:', '  - packages/*'])('is not held for %s', (line) => {
    expect(held(edit('pnpm-workspace.yaml', `+${line}`))).toBeNull();
  });
});

it.each([
  ['composer.json', '"pre-command-run": "php x.php"', 'runs a script'],
  ['composer.json', '"pre-file-download": "X::y"', 'runs a script'],
  ['composer.json', '"command": "X::y"', 'runs a script'],
  ['setup.cfg', 'find_links = https://example.net', 'another registry'],
  ['Cargo.toml', 'proc-macro = true', 'names code that a build runs'],
])('holds an event or setting of the package manager: %s: %s', (path, line, reason) => {
  expect(held(edit(path, `+${line}`))).toContain(reason);
});

describe('a setting of a tool in a manifest', () => {
  it.each([
    ['package.json', '  "jest": {},'],
    ['package.json', '  "ava": { "require": ["./src/x.js"] },'],
    ['package.json', '    "setupFiles": ["./src/x.js"],'],
    ['package.json', '    "resolver": "<rootDir>/src/x"'],
    ['package.json', '  "prettier": "./src/x.js",'],
    ['deno.json', '  "importMap": "./src/map.json",'],
    ['deno.jsonc', '  "lock": false,'],
    ['deno.json', '    "plugins": ["./src/x.ts"],'],
    ['jsr.json', '  "allow\\u0053cripts": ["npm:x"],'],
    ['pyproject.toml', '[tool.pytest.ini_options]'],
    ['pyproject.toml', '[project.entry-points.pytest11]'],
    ['pyproject.toml', '[tool.poe.tasks]'],
    ['pyproject.toml', 'addopts = "-p x"'],
    ['pyproject.toml', "init-hook = 'import x'"],
    ['pyproject.toml', 'plugins = ["x.py"]'],
    ['pyproject.toml', 'post_install = "python x.py"'],
    ['setup.cfg', '[tool:pytest]'],
    ['setup.cfg', '[flake8:local-plugins]'],
    ['setup.cfg', '[options.entry_points]'],
    ['setup.cfg', 'command_packages = x'],
  ])('is held, because the tool can run code with it: %s: %s', (path, line) => {
    expect(held(edit(path, `+${line}`))).toContain('is a setting of a tool');
    expect(held(edit(path, `-${line}`))).toBeNull();
  });

  it('is held below the name of its tool in the hunk', () => {
    const below = (section: string) => held(edit('pyproject.toml', ` ${section}`, '+x = true'));
    expect(below('[tool.pytest.ini_options]')).toContain('is a setting of a tool');
    expect(below('[tool.ruff.lint]')).toBeNull();
  });

  it.each([
    ['package.json', '  "exports": {},'],
    ['package.json', '    "./next": { "import": "./dist/next.js", "types": "./dist/next.d.ts" },'],
    ['package.json', '    "#text": "./src/text.js"'],
    ['package.json', '    "build": "node x.js"'],
    ['package.json', '    "jsx/dom": ["./dist/types/jsx/dom.d.ts"]'],
    ['deno.json', '    "check": "deno check src/mod.ts",'],
    ['deno.json', '  "exports": "./src/mod.ts",'],
    ['pyproject.toml', '[tool.ruff.lint]'],
    ['pyproject.toml', 'line-length = 100'],
    ['setup.cfg', '[mypy-tests.*]'],
    ['setup.cfg', '[options.packages.find]'],
  ])('is not held if it describes the package, or formats or reports: %s: %s', (path, line) => {
    expect(held(edit(path, `+${line}`))).toBeNull();
  });
});
