import { movePatch } from '../../../../dev/fixtures/git-repository';
import { MODIFIED, NEW, patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { leastCpuMs } from '../../../support/least-cpu';
import { firedReason, runRule } from '../../../policy/rules/support/run-pack-rule';

const change = (path: string): string => patchOf(path, MODIFIED, ['-a', '+b']);
const reasonFor = (patch: string, config = {}) => firedReason('git_unlisted_file', patch, { config });

describe('files of listed kinds', () => {
  it.each([
    'src/orders/total.ts',
    'src/auth/login.tsx',
    'src/config.ts',
    'src/tools/search.ts',
    'src/components/AccountSetup.tsx',
    'src/components/App.viewport.ts',
    'src/messages.de.ts',
    'types/deno.check.d.ts',
    'hooks/use-order.ts',
    'shop/orders.py',
    'app.py',
    'router.go',
    'internal/config/load.go',
    'crates/text/src/wrap.rs',
    'src/main/java/com/example/Label.java',
    'web/components/Quantity.tsx',
    'web/styles/button.module.css',
    'templates/mail/receipt.html.j2',
    'src/Build.java',
    'App/AppDelegate.swift',
    'src/Shop/Generate.cs',
    'src/\u00DCbersicht/prüfen.ts',
    'internal/cron/parse.go',
    'features/login.feature',
    'test/res.sendFile.js',
    'src/orders/total.unmocked.test.ts',
    'tests/test_orders.py',
    'test/notes/text_test.exs',
    'web/components/__snapshots__/Quantity.test.tsx.snap',
    'test/fixtures/order.json',
    'parser/testdata/input.yaml',
    'docs/export.md',
    'DOCS/EXPORT.MD',
    'Src/Orders/Total.TS',
    'docs/Makefile.md',
    'docs/release-notes/2.4.txt',
    'README',
    'CHANGELOG.md',
    'web/locales/de.json',
    'config/locales/nl.yml',
    'locale/de/LC_MESSAGES/django.po',
    'app/src/main/res/values-de/strings.xml',
    'src/main/resources/messages_de.properties',
    'web/icons/truck.svg',
    '.editorconfig',
    'data/.gitkeep',
    '.github/ISSUE_TEMPLATE/bug.md',
    'src/orders/middleware/index.ts',
    'src/middleware/index.test.ts',
    'README-FR.md',
    'SECURITY.md',
    'CODE_OF_CONDUCT.md',
    'packages/app/RELEASE-NOTES.md',
    'packages/agent/CHANGELOG.md',
    'docs/agents/writing.md',
    'docs/upgrade.md',
    'src/hooks/index.ts',
    'site/Guide.md',
    'site/about.md',
    'architecture.md',
    'packages/ai/docs/models.md',
    'docs/API.md',
    '.github/PULL_REQUEST_TEMPLATE.md',
  ])('pass, such as %s', (path) => {
    expect(reasonFor(change(path))).toBeNull();
  });
});

describe('asks a person about a file that is not on the list', () => {
  it.each([
    // Formats that tools read.
    ['turbo.json', 'has the extension ".json"'],
    ['config/app.toml', 'has the extension ".toml"'],
    ['reports/weekly.sql', 'has the extension ".sql"'],
    ['analysis/churn.ipynb', 'has the extension ".ipynb"'],
    ['scripts/deploy.sh', 'has the extension ".sh"'],
    ['win/install.ps1', 'has the extension ".ps1"'],
    ['build.main.kts', 'has the extension ".kts"'],
    ['.cache/package.json', 'is hidden'],
    ['src/orders/total.unknown', 'has the extension ".unknown"'],
    ['tools/run', 'has no extension'],
    ['deploy/nginx.conf.j2', 'has the extension ".j2"'],
    // Hidden files, also those that are programs.
    ['.gdbinit', 'is hidden'],
    ['packages/app/.eslintrc.js', 'is hidden'],
    ['packages/app/.vscode/tasks.json', 'is hidden'],
    ['.github/scripts/release.py', 'is hidden'],
    ['.new-agent/rules.md', 'is hidden'],
    ['.gitignore', 'is hidden'],
    // Names by which tools find programs.
    ['vite.config.ts', 'has a name'],
    ['src/alchemy.run.ts', 'has a name'],
    ['src/site.newtool.ts', 'has a name'],
    ['src/keys.macro.ts', 'has a name'],
    ['src/setupTests.ts', 'has a name'],
    ['test/jest.setup.ts', 'has a name'],
    ['tests/bootstrap.php', 'has a name'],
    ['gulpfile.js', 'has a name'],
    ['web/newtoolfile.js', 'has a name'],
    ['src/service-worker.ts', 'has a name'],
    ['src/middleware/index.ts', 'has a name'],
    ['src/service-worker/index.js', 'has a name'],
    ['src/hooks.server/index.ts', 'has a name'],
    ['docs/conf.py', 'has a name'],
    ['shop/manage.py', 'has a name'],
    ['src/shop/settings.py', 'has a name'],
    ['config.exs', 'has a name'],
    ['public/health.php', 'has a name'],
    ['pages/api/hello.ts', 'has a name'],
    ['app/routes/orders[.]csv.tsx', 'has a name'],
    ['tools/magefile.go', 'has a name'],
    ['src/app.min.js', 'has a name'],
    // Folders from which tools take programs.
    ['pipelines/dags/daily.py', 'is in the folder'],
    ['hooks/post_gen_project.py', 'is in the folder'],
    ['config/initializers/session.rb', 'is in the folder'],
    ['app/config/routes.rb', 'is in the folder'],
    ['infra/src/stack.ts', 'is in the folder'],
    ['wp-content/mu-plugins/date.php', 'is in the folder'],
    ['__mocks__/jsonwebtoken.js', 'is in the folder'],
    ['supabase/functions/hello/index.ts', 'is in the folder'],
    ['xtask/src/main.rs', 'is in the folder'],
    ['src/Shop.Analyzers/NoDate.cs', 'has a name'],
    ['src/Shop.SourceGenerator/Dates.cs', 'has a name'],
    ['project/src/main/scala/Settings.scala', 'has a name'],
    ['Project.swift', 'has a name'],
    ['gradle/plugins/src/main/kotlin/Checks.kt', 'is in the folder'],
    ['con\uFB01g/initializers.rb', 'has a letter'],
    ['src/classe\u00DF.ts', 'has a letter'],
    ['jobs/cron/clean.py', 'is in the folder'],
    ['orders.py', 'is a script in the root'],
    ['docs/search.js', 'is a script in the root'],
    // Documents and data that tools read.
    ['docs/runtime.txt', 'is a text outside'],
    ['docs/CMakeLists.txt', 'is a text outside'],
    ['test/fixtures/CMakeLists.txt', 'is a text outside'],
    ['data/allowed_hosts.txt', 'is a text outside'],
    ['src/prompts/support.md', 'from which AI agents take instructions'],
    ['packages/app/skills/deploy.md', 'from which AI agents take instructions'],
    ['CONVENTIONS.md', 'from which AI agents take instructions'],
    ['plugin/commands/release.md', 'from which AI agents take instructions'],
    ['packages/app/NEWAGENT.md', 'has a name in capitals'],
    ['NEW_TOOL-2.local.md', 'has a name in capitals'],
    ['README-AGENTS.md', 'from which AI agents take instructions'],
    ['plugin/commands/upgrade.md', 'from which AI agents take instructions'],
    ['plugin/commands/docs/publish.md', 'from which AI agents take instructions'],
    ['memory-bank/projectbrief.md', 'from which AI agents take instructions'],
    ['notes/team.agent-rules.md', 'from which AI agents take instructions'],
    ['docs/rtd-pip.txt', 'is a text outside'],
    ['soul.md', 'from which AI agents take instructions'],
    ['tools.md', 'is in the root'],
    ['initiative-plan.md', 'is in the root'],
    ['.github/copilot.md', 'from which AI agents take instructions'],
    ['.github/team.md', 'is in the root'],
    ['docs/copilot-instructions.md', 'from which AI agents take instructions'],
    ['docs/testing.instructions.md', 'from which AI agents take instructions'],
    ['docs/review.prompt.md', 'from which AI agents take instructions'],
    ['docs/SOUL.md', 'from which AI agents take instructions'],
    ['docs/CONVENTIONS.md', 'from which AI agents take instructions'],
    ['README.agents.md', 'from which AI agents take instructions'],
    ['ai/context.md', 'from which AI agents take instructions'],
    ['docs/llms.txt', 'is a text outside'],
    ['tests/data/pytest.ini', 'has the extension ".ini"'],
    ['testdata/tox.ini', 'has the extension ".ini"'],
    ['LICENSE.md', 'contains license terms'],
    ['etc/logrotate.d/history', 'is in a folder'],
    ['test/fixtures/tsconfig.json', 'has the extension ".json"'],
    ['app/fixtures/users.json', 'has the extension ".json"'],
    ['src/main/resources/application.properties', 'has the extension ".properties"'],
    ['deploy/messages/web.yaml', 'has the extension ".yaml"'],
    ['conf.d/testdata/web.yaml', 'has the extension ".yaml"'],
  ])('%s', (path, reason) => {
    expect(reasonFor(change(path))).toContain(reason);
  });

  it('if it is added, copied or deleted', () => {
    const added = patchOf('tools.toml', NEW, ['+a']);
    const copied = movePatch('src/a.ts', 'a.toml', 'copy');
    const deleted = patchOf('tools.toml', ['deleted file mode 100644', 'index 8c3482d..0000000'], ['-a']);
    for (const patch of [added, copied, deleted]) expect(reasonFor(patch)).toContain('has the extension ".toml"');
  });

  it.each([
    ['src/a.ts', 'vite.config.ts'],
    ['vite.config.ts', 'src/a.ts'],
  ])('if only one of its two names is unlisted: %s becomes %s', (from, to) => {
    expect(reasonFor(movePatch(from, to))).toContain('has a name');
  });

  it('if a file with a listed name is executable, before or after the change', () => {
    const patches = [
      patchOf('src/run.py', ['index 1f9d725..8c3482d 100755'], ['-a', '+b']),
      patchOf('src/run.py', ['old mode 100755', 'new mode 100644']),
      patchOf('src/run.py', ['new file mode 100755', 'index 0000000..8c3482d'], ['+a']),
    ];
    for (const patch of patches) expect(reasonFor(patch)).toContain('is executable');
  });

  it('if a file with a listed name begins with the program that runs it, before or after the change', () => {
    for (const lines of [
      ['+#!/usr/bin/env python3', '+pass'],
      [' #! /bin/sh', '+exit'],
      ['-#!/bin/sh', '+a'],
    ])
      expect(reasonFor(patchOf('src/run.py', lines.length > 1 ? MODIFIED : NEW, lines))).toContain('begins with "#!"');
    expect(reasonFor(patchOf('src/lib.rs', MODIFIED, ['+#![no_std]', ' fn main() {}']))).toBeNull();
  });

  it('if text is named like an image', () => {
    expect(reasonFor(change('web/logo.png'))).toContain('is text named like a binary file');
    expect(reasonFor(movePatch('a.png', 'b.png'))).toBeNull();
  });

  it('ignoring case', () => {
    for (const path of ['VITE.CONFIG.TS', 'Docs/Conf.PY', 'Dags/daily.py', 'src/SETUPTESTS.ts'])
      expect(reasonFor(change(path))).not.toBeNull();
  });
});

it('passes files that the bundle lists, also hidden and executable ones', () => {
  const config = { files: ['**/turbo.json', '.changeset/*.md', 'scripts/**'] };
  const executable = patchOf('scripts/run.py', ['index 1f9d725..8c3482d 100755'], ['-a', '+b']);
  for (const patch of [change('web/turbo.json'), change('.changeset/brave-dogs.md'), executable])
    expect([reasonFor(patch), reasonFor(patch, config)]).toEqual([expect.any(String), null]);
});

it('asks about the new name of a listed file of the bundle', () => {
  expect(reasonFor(movePatch('a.toml', 'b.toml'), { files: ['a.toml'] })).toContain('b.toml');
});

it('leaves files of protected kinds to git_protected_paths, which says more about them', () => {
  for (const path of ['.github/workflows/ci.yml', 'Dockerfile', 'setup.py', 'AGENTS.md']) {
    expect(reasonFor(change(path))).toBeNull();
    expect(runRule('git_protected_paths', change(path)).status).toBe('BLOCK');
  }
});

it('leaves manifests and lock files to git_dependency_change, which reads them or reports that it cannot', () => {
  for (const path of ['package.json', 'web/pnpm-lock.yaml', 'Cargo.toml', 'requirements/dev.txt', 'go.sum'])
    expect(reasonFor(change(path))).toBeNull();
  for (const path of ['pom.xml', 'Package.swift', 'settings.gradle.kts', 'environment.yml']) {
    expect(reasonFor(change(path))).toBeNull();
    expect(runRule('git_dependency_change', change(path)).status).toBe('BLOCK');
  }
});

it('asks about a manifest or lock file that is added or deleted, whatever it contains', () => {
  const patches = ['internal/go.mod', 'go.work', 'web/package.json', 'package-lock.json', 'Package.resolved'].flatMap(
    (path) => [
      patchOf(path, NEW),
      patchOf(path, NEW, ['+a']),
      patchOf(path, ['deleted file mode 100644', 'index 8c3482d..0000000']),
    ],
  );
  for (const patch of patches) expect(reasonFor(patch)).toContain('is not on the list');
});

it('asks about the old name of a file that becomes a manifest', () => {
  const patch = 'diff --git a/a.toml b/go.mod\nsimilarity index 90%\nrename from a.toml\nrename to go.mod\n';
  expect(reasonFor(patch)).toContain('a.toml');
});

it('names each file and what to do', () => {
  const result = runRule('git_unlisted_file', change('tools.toml') + change('a/b.ini'));
  expect(result.reason).toContain('tools.toml');
  expect(result.reason).toContain('a/b.ini');
  expect(JSON.stringify(result)).toContain('add a glob to `files`');
});

it.each([
  ['many files', (i: number) => `src/f${i}/a.toml`, 5000],
  ['long names', (i: number) => `src/${'aB-'.repeat(80)}${i}.config.ts`, 3000],
  ['deep paths', (i: number) => `${'x/'.repeat(2000)}${i}.ts`, 200],
])('reads %s in time', (_, path, count) => {
  const patch = Array.from({ length: count }, (_each, i) =>
    patchOf(path(i), ['old mode 100644', 'new mode 100644']),
  ).join('');
  expect(leastCpuMs(() => reasonFor(patch), 1)).toBeLessThan(5000);
});
