import { movePatch } from '../../../../dev/fixtures/git-repository';
import { MODIFIED, patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { fires } from '../../../policy/rules/support/run-pack-rule';

const changed = (path: string, before = 'a', after = 'b'): string =>
  patchOf(path, MODIFIED, [`-${before}`, `+${after}`]);

it.each([
  ['git_vendored_tree', 'src/third-party/zlib/inflate.c', true],
  ['git_vendored_tree', 'pip/_vendor/idna/core.py', true],
  ['git_vendored_tree', '.venv/lib/python3.13/site.py', true],
  ['git_vendored_tree', 'src/vendors/list.ts', false],
  ['git_generated_edit', 'api/user.pb.h', true],
  ['git_generated_edit', 'src/routes.gen.ts', true],
  ['git_generated_edit', 'api/zz_generated.deepcopy.go', true],
  ['git_generated_edit', 'src/generator/emit.ts', false],
  ['git_licence_change', 'LICENSE-APACHE', true],
  ['git_licence_change', 'UNLICENSE', true],
  ['git_licence_change', 'MIT-LICENSE.txt', true],
  ['git_licence_change', 'LICENSES/GPL-2.0-only.txt', true],
  ['git_licence_change', 'src/license.ts', false],
  ['git_licence_change', 'app/license_plate.py', false],
  ['git_licence_change', 'src/LicenseBadge.tsx', false],
])('%s decides about the file %s: %s', (rule, path, isFound) => {
  expect(fires(rule, changed(path))).toBe(isFound);
});

it.each([
  ['package.json', '  "license": "MIT",', '  "license": "UNLICENSED",', true],
  ['package.json', '', '  "license": "ISC",', true],
  ['Cargo.toml', 'license = "MIT"', 'license = "GPL-3.0"', true],
  ['src/a.c', ' * Permission is hereby granted, free of charge', ' *', true],
  ['package.json', '  "license": "MIT"', '  "license": "MIT" ', false],
  ['src/a.ts', 'const license = a;', 'const license = b;', false],
])('git_licence_change reads the lines of %s: "%s" becomes "%s"', (path, before, after, isFound) => {
  expect(fires('git_licence_change', changed(path, before, after))).toBe(isFound);
});

it('git_licence_change finds a license file that is moved away', () => {
  expect(fires('git_licence_change', movePatch('LICENSE', 'docs/old.txt'))).toBe(true);
});
