/**
 * The tree that a patch makes of a commit: in an index of its own, on no work tree.
 *
 * I1 Each hunk stands exactly where its header says: an offset is refused, for what people read would not be what is done.
 * I2 Nothing is written into the repository unless `own`: a dry run's objects lie beside it, and go with it.
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
  own: boolean,
): Promise<Patched> {
  const before = (await repository.read(['rev-parse', '--verify', `${commit}^{tree}`], { own }))
    .toString('utf8')
    .trim();
  await repository.read(['read-tree', before], { index: INDEX, own });
  const applied = await repository.run(['apply', '--cached', '-v', '--whitespace=nowarn', '-'], {
    index: INDEX,
    stdin: patch,
    own,
  });
  if (applied.kind === 'broken') throw targetUnavailable(repository.target, `git apply: ${applied.explanation}`);
  if (applied.code !== 0)
    return { ok: false, explanation: `it does not apply to ${commit}: ${reasonOf(applied.words)}` };
  const offset = /^Hunk #\d+ succeeded at .*$/m.exec(applied.words);
  if (offset !== null)
    return { ok: false, explanation: `a hunk does not stand where its header says (${offset[0].slice(0, 200)})` };
  const after = (await repository.read(['write-tree'], { index: INDEX, own })).toString('utf8').trim();
  return { ok: true, before, after, changed: await changedPaths(repository, before, after, own) };
}

function reasonOf(words: string): string {
  const errors = words.split('\n').filter((line) => line.startsWith('error: '));
  return firstLine(errors.at(-1)?.slice('error: '.length) ?? words);
}
