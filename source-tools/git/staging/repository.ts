/** One repository, for the time of one activity. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { misconfigured } from '../../../policy/contracts/failure';
import type { GitAccess, TargetContext } from '../../../policy/contracts/target-effects';
import { targetMisconfigured, targetUnavailable } from '../../target-failure';
import { runGit, type GitResult } from './git-process';
import { toGitSettings, type GitSettings } from './git-settings';

export interface Repository {
  readonly target: string;
  readonly git: GitAccess['git'];
  readonly settings: GitSettings;
  readonly gitDir: string;
  /** Empty when it is opened, and gone afterwards: index files and objects of a dry run live here. */
  readonly scratch: string;
  /** `own`: objects are written into the repository; otherwise beside it, where nobody sees them. */
  readonly run: (args: readonly string[], more?: RunMore) => Promise<GitResult>;
  /** As `run`; throws TARGET_UNAVAILABLE where git did not end by itself, or said no. */
  readonly read: (args: readonly string[], more?: RunMore) => Promise<Buffer>;
}

export interface RunMore {
  readonly stdin?: Uint8Array | string;
  readonly index?: string;
  readonly own?: boolean;
  /** Not ended with the activity: half a transaction would leave locks behind. */
  readonly unsignalled?: boolean;
}

/** Where the repository of a path is: its own directory where it is bare, else `.git` in it. Null where there is none. */
export function gitDirOf(repository: string): string | null {
  const inside = join(repository, '.git');
  if (existsSync(inside)) return statSync(inside).isDirectory() ? inside : null;
  return existsSync(join(repository, 'HEAD')) && existsSync(join(repository, 'objects')) ? repository : null;
}

/** Opens the target's repository for `work`. Throws CONFIGURATION_ERROR where the target is none. */
export async function inRepository<T>(ctx: TargetContext, work: (repository: Repository) => Promise<T>): Promise<T> {
  const { target, signal } = ctx;
  if (!('git' in target))
    throw misconfigured(`target: "${target.name}" is no git repository in this committer's configuration`, {
      target: target.name,
    });
  const settings = toGitSettings(ctx.settings);
  const gitDir = gitDirOf(target.git.repository);
  if (gitDir === null)
    throw targetMisconfigured(target.name, 'there is no repository at its path, or it is a linked work tree');
  const scratch = await mkdtemp(join(tmpdir(), 'countersign-git-'));
  mkdirSync(join(scratch, 'objects'));
  mkdirSync(join(scratch, 'empty'));
  const run: Repository['run'] = (args, { stdin, index, own, unsignalled } = {}) => {
    ctx.heartbeat?.();
    const objects =
      own === true
        ? {}
        : {
            GIT_OBJECT_DIRECTORY: join(scratch, 'objects'),
            GIT_ALTERNATE_OBJECT_DIRECTORIES: join(gitDir, 'objects'),
          };
    return runGit({
      args,
      gitDir,
      cwd: join(scratch, 'empty'),
      env: { ...objects, ...(index === undefined ? {} : { GIT_INDEX_FILE: join(scratch, index) }) },
      ...(stdin === undefined ? {} : { stdin }),
      timeoutMs: settings.timeoutMs,
      signal: unsignalled === true ? undefined : signal,
    });
  };
  const read: Repository['read'] = async (args, more) => {
    const result = await run(args, more);
    if (result.kind === 'broken') throw targetUnavailable(target.name, `git ${args[0]}: ${result.explanation}`);
    if (result.code !== 0) throw targetUnavailable(target.name, `git ${args[0]}: ${firstLine(result.words)}`);
    return result.stdout;
  };
  try {
    return await work({ target: target.name, git: target.git, settings, gitDir, scratch, run, read });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Git's words may quote names of the patch, and are bounded; they never hold lines of it. */
export function firstLine(words: string): string {
  return (words.split('\n').find((line) => line !== '') ?? 'no reason given').slice(0, 500);
}

/** The commit that a ref is at; null where there is no such ref. */
export async function tipOf(repository: Repository, ref: string): Promise<string | null> {
  const text = (await repository.read(['for-each-ref', '--format=%(refname) %(objectname)', ref])).toString('utf8');
  const line = text.split('\n').find((each) => each.startsWith(`${ref} `));
  return line?.slice(ref.length + 1) ?? null;
}
