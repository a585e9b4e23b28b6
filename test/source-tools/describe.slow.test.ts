import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describeRepository } from '../../source-tools/git/staging/describe-repository';
import { describeApi } from '../../source-tools/http/staging/describe-api';
import { makeRepository } from '../../dev/fixtures/git-repository';
import { startJsonApi } from '../../dev/fixtures/json-api';

const levels = (lines: readonly { readonly level: string; readonly text: string }[]): string[] =>
  lines.map(({ level, text }) => `${level} ${text}`);

test('doctor checks that a repository has the branch, and warns if its work tree will not be updated', async () => {
  const repo = makeRepository({ 'README.md': 'one\n' });
  try {
    const of = (repository: string, ref = repo.target.git.ref) =>
      describeRepository({ git: { ...repo.target.git, repository, ref } });
    expect(levels(await of(repo.path))).toEqual([
      expect.stringMatching(/^ok git version/),
      expect.stringMatching(/^ok refs\/heads\/main is at/),
    ]);
    expect(levels(await of(repo.path, 'refs/heads/gone'))).toContain(
      'fail the repository has no branch refs/heads/gone',
    );
    repo.git('symbolic-ref', 'refs/heads/link', 'refs/heads/main');
    expect(levels(await of(repo.path, 'refs/heads/link'))).toContain(
      'fail refs/heads/link is a symbolic ref to refs/heads/main; configure that one',
    );
    expect(levels(await of('/nonexistent'))).toEqual(['fail there is no git repository at /nonexistent']);
    const work = join(repo.path, '..', 'work');
    execFileSync('git', ['clone', '--quiet', repo.path, work], { stdio: 'ignore' });
    expect(levels(await of(work)).at(-1)).toMatch(/^warn .* checked out/);
  } finally {
    repo.remove();
  }
});

test('doctor checks that an API responds and accepts the credentials', async () => {
  const api = await startJsonApi();
  try {
    const of = (baseUrl: string) => describeApi({ http: { ...api.target.http, baseUrl } });
    expect(levels(await of(api.url))).toEqual([
      expect.stringMatching(/^ok .*status 404/),
      expect.stringMatching(/^warn plain HTTP/),
    ]);
    api.behaviour.read = 401;
    expect(levels(await of(api.url))[0]).toMatch(/^fail .*credentials/);
    expect(levels(await of('http://127.0.0.1:1/'))[0]).toMatch(/^fail .*ECONNREFUSED/);
  } finally {
    await api.stop();
  }
});
