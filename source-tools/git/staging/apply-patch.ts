/**
 * Applies a patch to the tree of a commit, in a temporary index and without a work tree.
 *
 * I1 Each hunk applies exactly at the line that its header states. An offset is refused, because the effect would differ from
 *    what was reviewed.
 * I2 Nothing is written to the repository unless `persist` is set: the objects of a dry run are in a temporary directory.
 * I3 A dry run reads binary content from the patch. Git would use an existing object with the id that the patch states instead,
 *    so it sees only the objects of the files before the change.
 */
import { targetUnavailable } from '../../target-failure';
import { GITLINK, pathsOf, type PatchFile } from '../facts/git-facts';
import { changedPaths, type ChangedPath } from './changed-paths';
import { firstLine, type Repository } from './repository';

type Patched =
  | { readonly ok: true; readonly before: string; readonly after: string; readonly changed: readonly ChangedPath[] }
  | { readonly ok: false; readonly explanation: string };

interface Application {
  readonly persist: boolean;
  /** The files of the patch. Only a dry run needs them. */
  readonly files?: readonly PatchFile[];
}

const INDEX = 'index';

export async function applyPatch(
  repository: Repository,
  commit: string,
  patch: Uint8Array,
  { persist, files = [] }: Application,
): Promise<Patched> {
  const before = await repository.readText(['rev-parse', '--verify', `${commit}^{tree}`], { persist });
  await repository.read(['read-tree', before], { index: INDEX, persist });
  const isolated = !persist && files.some(({ binary }) => binary !== null);
  if (isolated) await copyBlobs(repository, new Set(files.flatMap(pathsOf)));
  const applied = await repository.run(['apply', '--cached', '-v', '--whitespace=nowarn', '-'], {
    index: INDEX,
    stdin: patch,
    persist,
    isolated,
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
  const after = await repository.readText(['write-tree'], { index: INDEX, persist });
  return { ok: true, before, after, changed: await changedPaths(repository, before, after, persist) };
}

/** Copies the blobs of these paths, as they are in the index, to the scratch directory. */
async function copyBlobs(repository: Repository, paths: ReadonlySet<string>): Promise<void> {
  const listed = (await repository.readText(['ls-files', '--stage', '-z'], { index: INDEX })).split('\0');
  const ids = listed.flatMap((entry) => {
    const [, mode, id, path] = /^(\d{6}) ([0-9a-f]+) \d\t(.*)$/s.exec(entry) ?? [];
    return id !== undefined && path !== undefined && mode !== GITLINK && paths.has(path) ? [`${id}\n`] : [];
  });
  const pack = await repository.read(['pack-objects', '-q', '--stdout'], { stdin: ids.join('') });
  await repository.read(['unpack-objects', '-q'], { stdin: pack, isolated: true });
}

function reasonOf(stderr: string): string {
  const errors = stderr.split('\n').filter((line) => line.startsWith('error: '));
  return firstLine(errors.at(-1)?.slice('error: '.length) ?? stderr);
}
