import { StagingRecord } from '../../../policy/contracts/staging-record';
import type { GitPatchFacts } from '../facts/git-facts';
import type { StageContext, Staged, TargetEffects } from '../../../policy/contracts/target-effects';
import { applyPatch } from './apply-patch';
import { commitIdProblem } from '../commit-id';
import { commitMessageProblem } from '../commit-message';
import { identity } from './commit-object';
import { commitPatch, sealPatch } from './git-commit';
import { toGitRecord, type GitBase } from './git-record';
import { refusedPath } from './path-rules';
import { inRepository, tipOf, type Repository } from './repository';
import { rejected, rejectedAsStale } from '../../rejected';

/** Stages and commits a unified diff on `metadata.base_commit`, which must be the tip of the branch. */
export const gitPatchEffects: TargetEffects = {
  stage: (ctx: StageContext) => inRepository(ctx, (repository) => stage(ctx, repository)),
  commit: commitPatch,
  seal: sealPatch,
};

async function stage({ changeId, diff, facts }: StageContext, repository: Repository): Promise<Staged> {
  if (!facts.ok) return rejected(`${facts.code}: ${facts.message}`);
  const { stray, files } = facts as GitPatchFacts;
  const [first] = stray;
  if (first !== undefined)
    return rejected(`line ${first.line} is outside any file section of the patch: ${first.what}`);
  const message = diff.metadata['message'] ?? `Change ${changeId.slice(0, 12)}`;
  // The opening of the review has refused such a message already.
  const problem = commitMessageProblem(message);
  if (problem !== null) return rejected(`metadata.message: ${problem}`);
  const { ref, author } = repository.git;
  const given = diff.metadata['base_commit'];
  const commit = typeof given === 'string' ? given : '';
  const wrongId = commitIdProblem(commit);
  if (wrongId !== null) return rejected(`metadata.base_commit: ${wrongId}`);
  const tip = await tipOf(repository, ref);
  if (tip === null) return rejected(`metadata.base_commit: the branch ${ref} does not exist`);
  if (tip !== commit)
    return rejectedAsStale(
      `metadata.base_commit: the patch is based on ${commit}, but ${ref} is at ${tip}; rebase the patch`,
    );

  const patched = await applyPatch(repository, commit, diff.raw, { persist: false, files });
  if (!patched.ok) return rejected(patched.explanation);
  const { before, after, changed } = patched;
  if (changed.length === 0) return rejected('it does not change the tree');
  if (changed.length > repository.settings.maxPaths)
    return rejected(
      `it changes ${changed.length} paths, but this target allows at most ${repository.settings.maxPaths}`,
    );
  const refused = await refusedPath(repository, files, changed, { before, after });
  if (refused !== null) return rejected(refused);

  const gitBase: GitBase = {
    adapter: 'git/1',
    ref,
    commit,
    treeBefore: before,
    treeAfter: after,
    paths: [...changed],
    author: identity(author),
    message: String(message).trim(),
  };
  const version = await repository.readText(['version']);
  const { sourceTool, diffSha } = diff;
  const record = StagingRecord.safeParse(
    toGitRecord(gitBase, { sourceTool, target: repository.target, diffSha, version }),
  );
  if (!record.success)
    return rejected(
      'it does not fit in a staging record (a path is longer than 300 characters); submit it in smaller parts',
    );
  return { kind: 'staged', record: record.data, preview: { paths: changed.slice(0, 100).map(({ path }) => path) } };
}
