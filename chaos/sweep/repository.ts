import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** A git target: a bare repository with one branch. Each review adds its own file to it. */
export interface SweepRepository {
  readonly path: string;
  readonly tip: () => Promise<string>;
  /** How many commits on the branch wrote the row's file. */
  readonly applied: (row: number) => Promise<number>;
  /** Simulates a commit by another developer. */
  readonly overtake: () => Promise<void>;
  /** Contents of the markers, by change id. */
  readonly markers: () => Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>>;
}

export const fileOf = (row: number): string => `row-${row}.txt`;

const BRANCH = 'refs/heads/main';
const MARKERS = 'refs/countersign/changes/';

/** Environment of a git that commits as another developer and ignores the machine's git configuration. */
export const AS_DEVELOPER = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'dev',
  GIT_AUTHOR_EMAIL: 'dev@example.com',
  GIT_COMMITTER_NAME: 'dev',
  GIT_COMMITTER_EMAIL: 'dev@example.com',
};

export async function makeRepository(stateDir: string): Promise<SweepRepository> {
  const path = join(stateDir, 'repository.git');
  const git = async (...args: string[]): Promise<string> =>
    (await execute('git', args, { env: { ...AS_DEVELOPER, GIT_DIR: path } })).stdout.trim();
  await git('init', '--quiet', '--bare', '--initial-branch=main', path);
  const empty = await git('hash-object', '-t', 'tree', '-w', '/dev/null');
  await git('update-ref', BRANCH, await git('commit-tree', empty, '-m', 'empty'));
  const tip = (): Promise<string> => git('rev-parse', BRANCH);
  return {
    path,
    tip,
    applied: async (row) => Number(await git('rev-list', '--count', BRANCH, '--', fileOf(row))),
    overtake: async () => {
      const base = await tip();
      await git(
        'update-ref',
        BRANCH,
        await git('commit-tree', `${base}^{tree}`, '-p', base, '-m', 'manual edit'),
        base,
      );
    },
    markers: async () => {
      const refs = (await git('for-each-ref', '--format=%(refname)', MARKERS)).split('\n').filter((ref) => ref !== '');
      const found = new Map<string, Readonly<Record<string, unknown>>>();
      for (const ref of refs)
        found.set(
          ref.slice(MARKERS.length),
          JSON.parse(await git('cat-file', 'blob', ref)) as Readonly<Record<string, unknown>>,
        );
      return found;
    },
  };
}
