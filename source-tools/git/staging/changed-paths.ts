import { z } from 'zod';
import { targetUnavailable } from '../../target-failure';
import type { Repository } from './repository';

/** One changed entry of the tree: modes and blobs of both sides, zeros if it does not exist on that side. */
export const ChangedPath = z.strictObject({
  path: z.string(),
  oldMode: z.string(),
  newMode: z.string(),
  oldBlob: z.string(),
  newBlob: z.string(),
});
export type ChangedPath = z.infer<typeof ChangedPath>;

export const ABSENT = '000000';

/** The differences between two trees, sorted by path. A rename is a removal and an addition. */
export async function changedPaths(
  repository: Repository,
  before: string,
  after: string,
  persist: boolean,
): Promise<readonly ChangedPath[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--no-ext-diff', before, after];
  const parts = (await repository.readText(args, { persist })).split('\0');
  const paths: ChangedPath[] = [];
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const match = /^:(\d{6}) (\d{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [A-Z]$/.exec(parts[i] ?? '');
    const [, oldMode, newMode, oldBlob, newBlob] = match ?? [];
    const path = parts[i + 1];
    if (oldMode === undefined || newMode === undefined || oldBlob === undefined || newBlob === undefined || !path)
      throw targetUnavailable(repository.target, 'git diff-tree returned unexpected output');
    paths.push({ path, oldMode, newMode, oldBlob, newBlob });
  }
  return paths.sort((a, b) => (a.path < b.path ? -1 : 1));
}
