import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AS_DEVELOPER } from '../../chaos/sweep/repository';

/** A real repository with a branch `main`, and a work tree beside it for writing changes. */
export interface GitRepository {
  /** Path of the bare repository, which the target's configuration names. */
  readonly path: string;
  /** Runs git in the bare repository. */
  readonly git: (...args: string[]) => string;
  /** The text of a file, by branch and path. */
  readonly read: (path: string, rev?: string) => string;
  readonly tip: () => string;
  /** Commits files on main as another author would: text, a symbolic link, or null to remove the file. */
  readonly push: (files: Readonly<Record<string, string | null>>) => string;
  /** Everything in the repository: refs and object ids. */
  readonly contents: () => string;
  readonly remove: () => void;
}

export function makeRepository(files: Readonly<Record<string, string>>): GitRepository {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-repo-'));
  const path = join(dir, 'repo.git');
  const index = join(dir, 'index');
  const run = (args: readonly string[], input?: string): string =>
    execFileSync('git', [...args], {
      cwd: dir,
      env: { ...AS_DEVELOPER, GIT_DIR: path, GIT_INDEX_FILE: index },
      input: input ?? '',
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  run(['init', '--quiet', '--bare', '--initial-branch=main', path]);
  const push: GitRepository['push'] = (changed) => {
    for (const [name, text] of Object.entries(changed)) {
      if (text === null) run(['update-index', '--force-remove', name]);
      else {
        const blob = run(['hash-object', '-w', '--stdin'], text).trim();
        run(['update-index', '--add', '--cacheinfo', `100644,${blob},${name}`]);
      }
    }
    const tree = run(['write-tree']).trim();
    const parent = run(['for-each-ref', '--format=%(objectname)', 'refs/heads/main']).trim();
    const commit = run(['commit-tree', tree, ...(parent === '' ? [] : ['-p', parent]), '-m', 'by hand']).trim();
    run(['update-ref', 'refs/heads/main', commit]);
    return commit;
  };
  push(files);
  return {
    path,
    git: (...args) => run(args).trim(),
    read: (name, rev = 'main') => run(['show', `${rev}:${name}`]),
    tip: () => run(['rev-parse', 'refs/heads/main']).trim(),
    push,
    contents: () =>
      run(['for-each-ref']) + run(['cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)']),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

/** A patch that replaces one line in a one-line file. */
export function oneLinePatch(path: string, from: string, to: string): string {
  return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;
}

/** A patch that adds a file. */
export function newFilePatch(
  path: string,
  line: string,
  mode = '100644',
  end = '\n\\ No newline at end of file\n',
): string {
  return `diff --git a/${path} b/${path}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}${end}`;
}
