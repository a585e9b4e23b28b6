/**
 * Applies a patch to the tree of a commit, in a temporary index and without a work tree.
 *
 * I1 Each hunk applies exactly at the line that its header states. An offset is refused, because the effect would differ from
 *    what was reviewed.
 * I2 Nothing is written to the repository unless `persist` is set: the objects of a dry run are in a temporary directory.
 */
import { targetUnavailable } from '../../target-failure';
import { changedPaths, type ChangedPath } from './changed-paths';
import { firstLine, type Repository } from './repository';

export type Patched =
  | { readonly ok: true; readonly before: string; readonly after: string; readonly changed: readonly ChangedPath[] }
  | { readonly ok: false; readonly explanation: string };

const INDEX = 'index';

export async function applyPatch(
  repository: Repository,
  commit: string,
  patch: Uint8Array,
  persist: boolean,
): Promise<Patched> {
  const before = (await repository.read(['rev-parse', '--verify', `${commit}^{tree}`], { persist }))
    .toString('utf8')
    .trim();
  await repository.read(['read-tree', before], { index: INDEX, persist });
  const applied = await repository.run(['apply', '--cached', '-v', '--whitespace=nowarn', '-'], {
    index: INDEX,
    stdin: patch,
    persist,
  });
  if (applied.kind === 'broken') throw targetUnavailable(repository.target, `git apply: ${applied.explanation}`);
  if (applied.code !== 0)
    return { ok: false, explanation: `it does not apply to ${commit}: ${reasonOf(applied.stderr)}` };
  const offset = /^Hunk #\d+ succeeded at .*$/m.exec(applied.stderr);
  if (offset !== null)
    return {
      ok: false,
      explanation: `a hunk does not apply at the line that its header states (${offset[0].slice(0, 200)})`,
    };
  const after = (await repository.read(['write-tree'], { index: INDEX, persist })).toString('utf8').trim();
  return { ok: true, before, after, changed: await changedPaths(repository, before, after, persist) };
}

function reasonOf(stderr: string): string {
  const errors = stderr.split('\n').filter((line) => line.startsWith('error: '));
  return firstLine(errors.at(-1)?.slice('error: '.length) ?? stderr);
}
