import { packDefinitions } from '../../../../source-tools';
import { MODIFIED, patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { PROTECTED_KINDS } from '../../../../source-tools/git/rules/protected-kinds';
import { firedReason, runRule } from '../../../policy/rules/support/run-pack-rule';

const reasonFor = (path: string, config = {}) =>
  firedReason('git_protected_paths', patchOf(path, MODIFIED, ['-a', '+b']), { config });

it.each([
  ['.forgejo/workflows/ci.yml', 'executed by a pipeline'],
  ['.gitea/workflows/ci.yaml', 'executed by a pipeline'],
  ['.woodpecker.yml', 'executed by a pipeline'],
  ['.husky/pre-commit', 'executed or obeyed by git'],
  ['sub/.gitattributes', 'executed or obeyed by git'],
  ['.envrc', 'executed when a shell enters the folder'],
  ['.vscode/tasks.json', 'an editor opens it'],
  ['setup.py', 'executed when packages are installed'],
  ['native/binding.gyp', 'executed when packages are installed'],
  ['tests/conftest.py', 'executed by a build or a test run'],
  ['gradlew', 'executed by a build or a test run'],
  ['gradle/wrapper/gradle-wrapper.properties', 'executed by a build or a test run'],
  ['.mvn/wrapper/maven-wrapper.properties', 'executed by a build or a test run'],
  ['.npmrc', 'where packages come from'],
  ['CLAUDE.md', 'that AI agents obey'],
  ['.cursorrules', 'that AI agents obey'],
  ['.github/copilot-instructions.md', 'that AI agents obey'],
  ['docs/CODEOWNERS', 'who reviews changes'],
  ['compose.yaml', 'on deployment'],
  ['deploy/kustomization.yaml', 'on deployment'],
  ['db/migrate/20240102_add_role.rb', 'on deployment'],
  ['alembic/versions/1a2b_add_role.py', 'on deployment'],
  ['ci/release.Jenkinsfile', 'executed by a pipeline'],
  ['.gitlab-ci.yaml', 'executed by a pipeline'],
  ['.azuredevops/pipelines/release.yml', 'executed by a pipeline'],
  ['vars/deploy.groovy', 'executed by a pipeline'],
  ['.gitconfig', 'executed or obeyed by git'],
  ['scripts/hooks/pre-commit', 'executed or obeyed by git'],
  ['docs/example/HEAD', 'executed or obeyed by git'],
  ['native/rules.mk', 'executed by a build or a test run'],
  ['firestore.rules', 'who may access what'],
  ['app/dev.dockerfile', 'on deployment'],
  ['infra/main.tofu', 'on deployment'],
  ['infra/prod.auto.tfvars.json', 'on deployment'],
  ['infra/prod/terragrunt.hcl', 'on deployment'],
  ['infra/cdk.json', 'on deployment'],
  ['samconfig.toml', 'on deployment'],
  ['amplify.yml', 'executed by a pipeline'],
  ['apprunner.yaml', 'executed by a pipeline'],
  ['infra/atlantis.yaml', 'executed by a pipeline'],
  ['Taskfile.dist.yml', 'executed by a build or a test run'],
  ['rakefile.rb', 'executed by a build or a test run'],
  ['compose.override.yaml', 'on deployment'],
  ['deps/build.jl', 'executed when packages are installed'],
  ['Setup.hs', 'executed when packages are installed'],
  ['ios/ci_scripts/ci_post_clone.sh', 'executed by a pipeline'],
  ['src/auth/login.tsx', 'who may access what'],
  ['Dockerfile.feature', 'on deployment'],
  ['ci/Jenkinsfile.feature', 'executed by a pipeline'],
])('protects %s, which is %s', (path, kind) => {
  expect(reasonFor(path)).toContain(kind);
});

it.each([
  'src/lock.ts',
  'docs/compose.md',
  'docs/Makefile.md',
  'k8s/README.md',
  'db/migrations/README.md',
  'docs/auth/README.md',
  'src/requirements.ts',
  'src/components/charts/bar.tsx',
  'package-lock.json',
  'src/hooks/use-user.ts',
])('does not protect an ordinary file such as %s', (path) => {
  expect(reasonFor(path)).toBeNull();
});

it('protects a document if the bundle itself names it', () => {
  for (const config of [{ also: ['**/k8s/**'] }, { paths: ['**/k8s/**'] }])
    expect(reasonFor('k8s/README.md', config)).not.toBeNull();
});

it('protects only the paths of the bundle if it names them', () => {
  const config = { paths: ['payments/**'] };
  expect(reasonFor('payments/fees.ts', config)).not.toBeNull();
  expect(reasonFor('Dockerfile', config)).toBeNull();
});

it('forbids a link that takes the place of the folder of the policy', () => {
  const link = patchOf('ops/countersign.policy', ['new file mode 120000'], ['+../other']);
  expect(runRule('git_policy_change', link).status).toBe('BLOCK');
});

it('documents the source of each kind', () => {
  for (const { what, sources, globs } of PROTECTED_KINDS) {
    expect([what, globs.length > 0, sources.length > 0]).toEqual([what, true, true]);
    for (const source of sources) expect(source).toMatch(/^https:\/\//);
  }
});

it.each([
  ['git_protected_paths', 'also'],
  ['git_dangerous_ci', 'pipelines'],
  ['git_test_weakening', 'tests'],
  ['git_vendored_tree', 'paths'],
  ['secrets_key_file', 'paths'],
])('%s refuses a glob with a leading slash in `%s`, because it would match nothing', (rule, setting) => {
  const config = packDefinitions.find(({ implementation }) => implementation === rule)?.config;
  expect(config?.safeParse({ [setting]: ['/infra/**'] }).success).toBe(false);
  expect(config?.safeParse({ [setting]: ['infra/**'] }).success).toBe(true);
});
