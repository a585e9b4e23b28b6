import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TargetLine } from '../../target-line';
import type { GitAccess } from './git-access';
import { runGit } from './git-process';
import { gitDirOf, symbolicRef } from './repository';

const TIMEOUT_MS = 10_000;

/** Checks the repository from the committer's point of view. Reports every problem as a line and never throws for it. */
export async function describeRepository({ git }: Pick<GitAccess, 'git'>): Promise<readonly TargetLine[]> {
  const gitDir = gitDirOf(git.repository);
  if (gitDir === null) return [{ level: 'fail', text: `there is no git repository at ${git.repository}` }];
  const run = async (...args: string[]): Promise<string | null> => {
    const result = await runGit({ args, gitDir, cwd: tmpdir(), timeoutMs: TIMEOUT_MS });
    return result.kind === 'exited' && result.code === 0 ? result.stdout.toString('utf8').trim() : null;
  };
  const version = await run('version');
  if (version === null) return [{ level: 'fail', text: 'git could not be run' }];
  const lines: TargetLine[] = [{ level: 'ok', text: version }];
  const symbolic = await run('symbolic-ref', '--quiet', git.ref);
  if (symbolic !== null) lines.push({ level: 'fail', text: symbolicRef(git.ref, symbolic) });
  const tip = await run('rev-parse', '--verify', '--quiet', `${git.ref}^{commit}`);
  lines.push(
    tip === null
      ? { level: 'fail', text: `the repository has no branch ${git.ref}` }
      : { level: 'ok', text: `${git.ref} is at ${tip.slice(0, 12)}` },
  );
  for (const place of ['objects', 'refs']) {
    if (!(await writable(join(gitDir, place))))
      lines.push({ level: 'fail', text: `the directory ${place} is not writable` });
  }
  const head = await run('symbolic-ref', '--quiet', 'HEAD');
  if (gitDir !== git.repository && head === git.ref)
    lines.push({ level: 'warn', text: `${git.ref} is checked out in a work tree, which commits will not update` });
  return lines;
}

async function writable(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK);
    return true;
  } catch {
    return false; // `access` throws if the path is not writable.
  }
}
