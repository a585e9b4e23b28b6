/**
 * Commit and seal of a patch.
 *
 * G1 The branch moves from the approved base by compare-and-set, in one transaction with the marker. Everything else that is
 *    written is unreachable objects.
 * G2 The commit is found by its id in the branch's history since the base. A message can be copied, an id cannot.
 * G3 A commit that a post validator rejects is reverted only if the branch is still at that commit. After the revert has begun, the
 *    commit counts as reverted if the branch does not contain it.
 */
import { canonicalJson, type JsonObject } from '../../../policy/contracts/canonical-json';
import { stagingSha, type StagingRecord } from '../../../policy/contracts/staging-record';
import type { CommitContext, CommitResult, ReadBack, SettleContext } from '../../../policy/contracts/target-effects';
import { targetUnavailable } from '../../target-failure';
import { applyPatch } from './apply-patch';
import { commitObject, type CommitObject } from './commit-object';
import { markerRef, readMarker, updateRefs, writeMarkerBlob, type StoredMarker } from './git-marker';
import { gitBaseOf, type GitBase } from './git-record';
import { inRepository, tipOf, type Repository } from './repository';

/** Idempotent: a retry finds the earlier result in the repository. Throws TARGET_UNAVAILABLE or CONFIGURATION_ERROR. */
export function commitPatch(ctx: CommitContext): Promise<CommitResult> {
  return inRepository(ctx, async (repository) => {
    const base = gitBaseOf(ctx.approved);
    if (base === null) return { kind: 'refused', explanation: 'the approved record is not of a git repository' };
    if (base.ref !== repository.git.ref)
      return { kind: 'stale', explanation: `the target is now ${repository.git.ref}, but ${base.ref} was approved` };
    const ours = commitObject(base, ctx.changeId, ctx.intentAt);
    const effect = effectOf(ctx.approved, base, ours);
    const found = await find(ctx, repository);
    switch (found.found) {
      case 'undone':
        return { kind: 'compensated', explanation: found.explanation, effect: found.effect };
      case 'sealed':
        return { kind: 'sealed' };
      case true:
        return checkAfterCommit(ctx, repository, base, ours, found.effect, true);
      case false:
        break;
      default:
        return found satisfies never;
    }
    const moved = await write(ctx, repository, base, ours, effect);
    return moved ?? checkAfterCommit(ctx, repository, base, ours, effect, false);
  });
}

/** Null if the commit was written. */
async function write(
  ctx: CommitContext,
  repository: Repository,
  base: GitBase,
  ours: CommitObject,
  effect: JsonObject,
): Promise<CommitResult | null> {
  const tip = await tipOf(repository, base.ref);
  if (tip !== base.commit) return stale(base, tip);
  const patched = await applyPatch(repository, base.commit, ctx.diff.raw, { persist: true });
  if (!patched.ok) return { kind: 'stale', explanation: patched.explanation };
  if (patched.after !== base.treeAfter || canonicalJson(patched.changed) !== canonicalJson(base.paths))
    return { kind: 'stale', explanation: 'the patch produces a different tree than was approved' };
  const written = await repository.readText(['hash-object', '-t', 'commit', '-w', '--stdin'], {
    stdin: ours.body,
    persist: true,
  });
  if (written !== ours.id) throw new Error('git computed a different id for the commit');
  const blob = await writeMarkerBlob(repository, { changeId: ctx.changeId, state: 'applied', effect });
  const ended = (await ctx.endedMeanwhile?.()) ?? null;
  if (ended !== null) return { kind: 'refused', explanation: ended };
  const updated = await updateRefs(repository, [
    `update ${base.ref} ${ours.id} ${base.commit}`,
    `create ${markerRef(ctx.changeId)} ${blob}`,
  ]);
  switch (updated.kind) {
    case 'done':
      return null;
    case 'moved': {
      const now = await tipOf(repository, base.ref);
      if (now !== base.commit && now !== ours.id) return stale(base, now);
      // A lock, a full disk or a concurrent attempt: retry.
      throw targetUnavailable(repository.target, updated.explanation);
    }
    case 'broken':
      return { kind: 'unknown', explanation: `git update-ref: ${updated.explanation}` };
    default:
      return updated satisfies never;
  }
}

function stale(base: GitBase, tip: string | null): CommitResult {
  return {
    kind: 'stale',
    explanation:
      tip === null
        ? `${base.ref} does not exist, but ${base.commit} was approved`
        : `${base.ref} is at ${tip}, but ${base.commit} was approved`,
  };
}

/** The effect as the receipt states it: ids and counts, no content. */
function effectOf(approved: StagingRecord, base: GitBase, ours: CommitObject): JsonObject {
  const { ref, commit, treeAfter, paths } = base;
  return { stagingSha: stagingSha(approved), ref, commit: ours.id, base: commit, tree: treeAfter, paths: paths.length };
}

/** Runs the post validators and reverts the commit if one rejects it (G3). A retry repeats this with the same result. */
async function checkAfterCommit(
  ctx: CommitContext,
  repository: Repository,
  base: GitBase,
  ours: CommitObject,
  effect: JsonObject,
  replayed: boolean,
): Promise<CommitResult> {
  const record = { ...ctx.approved, base: { ...ctx.approved.base, written: ours.id } };
  const post = await ctx.postCheck?.(record);
  if (post?.ok !== false) return { kind: 'applied', effect, replayed };
  const { explanation } = post;
  const marker = await readMarker(repository, ctx.changeId);
  if (marker?.marker.state === 'undone') return { kind: 'compensated', explanation, effect };
  const ref = markerRef(ctx.changeId);
  const blobOf = (state: 'undoing' | 'undone'): Promise<string> =>
    writeMarkerBlob(repository, { changeId: ctx.changeId, state, effect, explanation });
  const [undoing, undone] = [await blobOf('undoing'), await blobOf('undone')];
  const begun = await updateRefs(repository, [
    marker === null ? `create ${ref} ${undoing}` : `update ${ref} ${undoing} ${marker.blob}`,
  ]);
  if (begun.kind !== 'done') throw targetUnavailable(repository.target, begun.explanation);
  const reverted = await updateRefs(repository, [
    `update ${base.ref} ${base.commit} ${ours.id}`,
    `update ${ref} ${undone} ${undoing}`,
  ]);
  if (reverted.kind === 'done') return { kind: 'compensated', explanation, effect };
  if ((await tipOf(repository, base.ref)) === ours.id) throw targetUnavailable(repository.target, reverted.explanation);
  // Git may have been killed after it moved the branch back and before it moved the marker.
  if (!(await branchContains(repository, base, ours.id))) return { kind: 'compensated', explanation, effect };
  return { kind: 'applied', effect, replayed, shouldBeReverted: `${explanation}; ${base.ref} has moved since` };
}

type Found = Exclude<ReadBack, { readonly found: 'unknown' }> | { readonly found: 'sealed' };

function fromMarker(stored: StoredMarker | null): Found | null {
  if (stored === null) return null;
  const { marker } = stored;
  switch (marker.state) {
    case 'applied':
    case 'undoing':
      return { found: true, effect: marker.effect, unchecked: true };
    case 'undone':
      return { found: 'undone', effect: marker.effect, explanation: marker.explanation };
    case 'sealed':
      return { found: 'sealed' };
    default:
      return marker satisfies never;
  }
}

/** Whether the branch contains the commit (G2). Throws TARGET_UNAVAILABLE if its history cannot be read. */
async function branchContains(repository: Repository, base: GitBase, id: string): Promise<boolean> {
  const tip = await tipOf(repository, base.ref);
  if (tip === null || tip === base.commit) return false;
  // Not `merge-base --is-ancestor`: its exit code for a history that it cannot read is the one for "no".
  const since = await repository.readText(['rev-list', tip, `^${base.commit}`]);
  return since.split('\n').includes(id);
}

export function sealPatch(ctx: SettleContext): Promise<ReadBack> {
  return inRepository(ctx, async (repository) => {
    const found = await find(ctx, repository);
    if (found.found !== false) return asReadBack(found);
    const blob = await writeMarkerBlob(repository, { changeId: ctx.changeId, state: 'sealed' });
    const updated = await updateRefs(repository, [`create ${markerRef(ctx.changeId)} ${blob}`]);
    if (updated.kind !== 'done') throw targetUnavailable(repository.target, `sealing: ${updated.explanation}`);
    return asReadBack(await find(ctx, repository));
  });
}

function asReadBack(found: Found): ReadBack {
  return found.found === 'sealed' ? { found: false } : found;
}

/** The commit that an attempt would have written; null without a record or intent, because then no attempt was made. */
function expectedOf({ approved, intentAt, changeId }: SettleContext): {
  readonly base: GitBase;
  readonly commit: CommitObject;
  readonly effect: JsonObject;
} | null {
  const base = gitBaseOf(approved);
  if (approved === null || base === null || intentAt === null) return null;
  const commit = commitObject(base, changeId, intentAt);
  return { base, commit, effect: effectOf(approved, base, commit) };
}

async function find(ctx: SettleContext, repository: Repository): Promise<Found> {
  const stored = await readMarker(repository, ctx.changeId);
  const marked = fromMarker(stored);
  const ours = expectedOf(ctx);
  if (stored?.marker.state === 'undoing' && ours !== null) {
    const { effect, explanation } = stored.marker;
    if (!(await branchContains(repository, ours.base, ours.commit.id))) return { found: 'undone', effect, explanation };
  }
  if (marked !== null && marked.found !== 'sealed') return marked;
  // Also with a seal: an attempt whose git process was killed may have moved the branch before, without a marker.
  if (ours !== null && (await branchContains(repository, ours.base, ours.commit.id)))
    return { found: true, effect: ours.effect, unchecked: true };
  return marked ?? { found: false };
}
