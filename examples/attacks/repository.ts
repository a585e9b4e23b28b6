import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** The target of patches: a bare repository with one commit on `main`. */
export interface Repository {
  readonly path: string;
  readonly tip: () => string;
  /** Message and author of the last commit. */
  readonly message: () => string;
  readonly author: () => string;
}

export function makeRepository(dir: string): Repository {
  const path = join(dir, 'repo.git');
  const who = { GIT_AUTHOR_NAME: 'Dev', GIT_AUTHOR_EMAIL: 'dev@example.com' };
  const env = { ...process.env, ...who, GIT_COMMITTER_NAME: 'Dev', GIT_COMMITTER_EMAIL: 'dev@example.com' };
  const git = (args: readonly string[], input = ''): string =>
    execFileSync('git', [...args], { env: { ...env, GIT_DIR: path }, input, encoding: 'utf8' }).trim();
  git(['init', '--quiet', '--bare', '--initial-branch=main', path]);
  const blob = git(['hash-object', '-w', '--stdin'], 'one\n');
  const tree = git(['mktree'], `100644 blob ${blob}\tREADME.md\n`);
  git(['update-ref', 'refs/heads/main', git(['commit-tree', tree, '-m', 'by hand'])]);
  const last = (format: string): string => git(['log', '-1', `--format=${format}`, 'refs/heads/main']);
  return {
    path,
    tip: () => git(['rev-parse', 'refs/heads/main']),
    message: () => last('%B'),
    author: () => last('%an <%ae>'),
  };
}
