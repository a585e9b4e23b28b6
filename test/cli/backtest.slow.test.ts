import { starterBundle } from '../../source-tools/starter-bundle';
import { makeRepository, type GitRepository } from '../../dev/fixtures/git-repository';
import { runCommand, temporaryFolder } from './run-command';

const folder = temporaryFolder();
let repo: GitRepository;
let policy: string;
beforeAll(() => {
  policy = folder.write('git.policy.yaml', starterBundle('GitPatch'));
  repo = makeRepository({ 'src/a.ts': 'export const a = 1;\n' });
  repo.push({ 'src/a.ts': 'export const a = 2;\n' });
  repo.push({ '.github/workflows/ci.yml': 'on: push\n' });
  repo.push({ '.envrc': 'export A=1\n', 'countersign.policy.yaml': 'version: 1\n' });
});
afterAll(() => repo.remove());

const backtest = (...args: readonly string[]) => backtestOf(repo.path, policy, ...args);
const backtestOf = (git: string, bundle: string, ...args: readonly string[]) =>
  runCommand(['policy', 'backtest', '--git', git, '--policy', bundle, ...args]);

describe('countersign policy backtest', () => {
  it('says how many of the last commits are held, and which rules hold them', async () => {
    const { code, out } = await backtest();
    expect([code, out]).toEqual([
      0,
      '2 of 4 commits held (50 %), 1 forbidden\n' +
        '  guardian.git_protected_paths  holds 2 (50 %), alone 1\n' +
        '  guardian.git_unlisted_file    holds 1 (25 %), alone 0\n' +
        '  safety.git_policy_change      holds 1 (25 %), alone 0\n',
    ]);
  });

  it('lists the held commits with their findings as JSON, up to the given number of commits', async () => {
    const { code, out } = await backtest('--last', '1', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      commits: 1,
      held: 1,
      forbidden: 1,
      heldCommits: [{ commit: repo.tip(), outcome: 'FORBID' }],
      notEvaluated: [],
    });
  });

  it('refuses a folder that is not a repository, an unknown revision and a bundle without GitPatch', async () => {
    expect((await backtest('--revision', 'missing')).err).toContain('--revision: cannot list the commits of "missing"');
    const noGit = folder.write('sql.policy.yaml', starterBundle('SQLDryRun'));
    expect((await backtestOf(repo.path, noGit)).err).toContain('--policy: no target of the bundle accepts GitPatch');
    const two = folder.write('two.policy.yaml', starterBundle('GitPatch', { targets: ['web', 'app'] }));
    const several = '--target: expected one of web, app, ';
    expect((await backtestOf(repo.path, two)).err).toContain(`${several}and it is missing`);
    expect((await backtestOf(repo.path, two, '--target', 'wep')).err).toContain(`${several}got "wep"`);
    expect((await backtestOf(folder.path('.'), policy)).err).toContain('--git: expected a git repository');
  });
});
