import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GitAccess } from '../../../policy/contracts/target-effects';
import type { TargetLine } from '../../target-line';
import { runGit } from './git-process';
import { gitDirOf } from './repository';

const PATIENCE_MS = 10_000;

/** What a repository looks like to the committer. Never throws for what is wrong with it: that is a line. */
export async function describeRepository({ git }: Pick<GitAccess, 'git'>): Promise<readonly TargetLine[]> {
  const gitDir = gitDirOf(git.repository);
  if (gitDir === null) return [{ level: 'fail', text: `no repository at ${git.repository}` }];
  const run = async (...args: string[]): Promise<string | null> => {
    const result = await runGit({ args, gitDir, cwd: tmpdir(), timeoutMs: PATIENCE_MS });
    return result.kind === 'exited' && result.code === 0 ? result.stdout.toString('utf8').trim() : null;
  };
  const version = await run('version');
  if (version === null) return [{ level: 'fail', text: 'git cannot be run' }];
  const lines: TargetLine[] = [{ level: 'ok', text: version }];
  const tip = await run('rev-parse', '--verify', '--quiet', `${git.ref}^{commit}`);
  lines.push(
    tip === null
      ? { level: 'fail', text: `${git.ref} is no branch of it` }
      : { level: 'ok', text: `${git.ref} is at ${tip.slice(0, 12)}` },
  );
  for (const place of ['objects', 'refs']) {
    if (!(await writable(join(gitDir, place)))) lines.push({ level: 'fail', text: `${place} cannot be written` });
  }
  const head = await run('symbolic-ref', '--quiet', 'HEAD');
  if (gitDir !== git.repository && head === git.ref)
    lines.push({ level: 'warn', text: `${git.ref} is checked out there: its work tree will not follow` });
  return lines;
}

async function writable(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK);
    return true;
  } catch {
    return false; // What `access` says by throwing.
  }
}
