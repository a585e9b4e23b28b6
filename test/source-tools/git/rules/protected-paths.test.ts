import { packDefinitions } from '../../../../source-tools';
import { MODIFIED, patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const isProtected = (path: string): boolean =>
  runRule(packDefinitions, 'git_protected_paths', patchOf(path, MODIFIED, ['-a', '+b'])).status !== 'ALLOW';

it.each([
  'go.sum',
  'poetry.lock',
  'services/api/Cargo.lock',
  'requirements.txt',
  'requirements/requirements-dev.txt',
  'compose.yaml',
  'deploy/kustomization.yaml',
  'db/migrate/20240102_add_role.rb',
  'alembic/versions/1a2b_add_role.py',
  'CLAUDE.md',
])('protects %s, whose lines do not show their effect', (path) => {
  expect(isProtected(path)).toBe(true);
});

it.each(['src/lock.ts', 'docs/compose.md', 'src/requirements.ts', 'db/queries/user.sql'])(
  'does not protect an ordinary file such as %s',
  (path) => {
    expect(isProtected(path)).toBe(false);
  },
);
