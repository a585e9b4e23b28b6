/** Access to one repository during one activity. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TargetContext } from '../../../policy/contracts/target-effects';
import { targetMisconfigured, targetUnavailable } from '../../target-failure';
import { gitOf, type GitAccess } from './git-access';
import { runGit, type GitResult } from './git-process';
import { toGitSettings, type GitSettings } from '../staging-settings';

export interface Repository {
  readonly target: string;
  readonly git: GitAccess['git'];
  readonly settings: GitSettings;
  /** Runs git. See `RunMore` for where objects are written. */
  readonly run: (args: readonly string[], more?: RunMore) => Promise<GitResult>;
  /** Like `run`, but returns standard output and throws TARGET_UNAVAILABLE unless git exits with code 0. */
  readonly read: (args: readonly string[], more?: RunMore) => Promise<Buffer>;
  /** Like `read`, but returns text without white space around it. */
  readonly readText: (args: readonly string[], more?: RunMore) => Promise<string>;
}

interface RunMore {
  readonly stdin?: Uint8Array | string;
  /** Name of an index file in the scratch directory. */
  readonly index?: string;
  /** Writes objects to the repository; otherwise they go to the scratch directory. */
  readonly persist?: boolean;
  /** Reads only the objects of the scratch directory, none of the repository. */
  readonly isolated?: boolean;
  /** Does not stop git if the activity is cancelled, because an interrupted transaction would leave locks behind. */
  readonly ignoreCancellation?: boolean;
}

/** The git directory of a path: the path itself if it is a bare repository, otherwise its `.git`. Null if there is none. */
export function gitDirOf(repository: string): string | null {
  const inside = join(repository, '.git');
  if (existsSync(inside)) return statSync(inside).isDirectory() ? inside : null;
  return existsSync(join(repository, 'HEAD')) && existsSync(join(repository, 'objects')) ? repository : null;
}

/**
 * Opens the target's repository for `work`, with a temporary scratch directory for index files and the objects of a dry run.
 * Throws CONFIGURATION_ERROR if the target is not a git repository.
 */
export async function inRepository<T>(ctx: TargetContext, work: (repository: Repository) => Promise<T>): Promise<T> {
  const { target, signal } = ctx;
  const git = gitOf(target);
  const settings = toGitSettings(ctx.settings);
  const gitDir = gitDirOf(git.repository);
  if (gitDir === null)
    throw targetMisconfigured(target.name, 'there is no repository at its path, or the path is a linked work tree');
  const scratch = await mkdtemp(join(tmpdir(), 'countersign-git-'));
  mkdirSync(join(scratch, 'objects'));
  mkdirSync(join(scratch, 'empty'));
  const run: Repository['run'] = (args, { stdin, index, persist, isolated, ignoreCancellation } = {}) => {
    const objects =
      persist === true
        ? {}
        : {
            GIT_OBJECT_DIRECTORY: join(scratch, 'objects'),
            ...(isolated === true ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: join(gitDir, 'objects') }),
          };
    return runGit({
      args,
      gitDir,
      cwd: join(scratch, 'empty'),
      env: { ...objects, ...(index === undefined ? {} : { GIT_INDEX_FILE: join(scratch, index) }) },
      ...(stdin === undefined ? {} : { stdin }),
      timeoutMs: settings.timeoutMs,
      signal: ignoreCancellation === true ? undefined : signal,
    });
  };
  const read: Repository['read'] = async (args, more) => {
    const result = await run(args, more);
    if (result.kind === 'broken') throw targetUnavailable(target.name, `git ${args[0]}: ${result.explanation}`);
    if (result.code !== 0) throw targetUnavailable(target.name, `git ${args[0]}: ${firstLine(result.stderr)}`);
    return result.stdout;
  };
  const readText: Repository['readText'] = async (args, more) => (await read(args, more)).toString('utf8').trim();
  try {
    return await work({ target: target.name, git, settings, run, read, readText });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** First line of git's output, truncated. It may contain file names of the patch, but never its lines. */
export function firstLine(stderr: string): string {
  return (stderr.split('\n').find((line) => line !== '') ?? 'no reason given').slice(0, 500);
}

/**
 * The object that a ref points to; null if the ref does not exist. Throws CONFIGURATION_ERROR for a symbolic ref, which a commit would
 * replace by a direct one.
 */
export async function tipOf(repository: Repository, ref: string): Promise<string | null> {
  const text = await repository.readText(['for-each-ref', '--format=%(refname) %(objectname) %(symref)', ref]);
  const line = text.split('\n').find((each) => each.startsWith(`${ref} `));
  const [tip, symbolic] = line?.slice(ref.length + 1).split(' ') ?? [];
  if (symbolic !== undefined && symbolic !== '')
    throw targetMisconfigured(repository.target, symbolicRef(ref, symbolic));
  return tip ?? null;
}

export function symbolicRef(ref: string, to: string): string {
  return `${ref} is a symbolic ref to ${to}; configure that one`;
}
