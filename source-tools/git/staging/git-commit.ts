/**
 * Commit, read-back and seal of a patch.
 *
 * G1 The branch moves by compare-and-set from the base that was approved, together with the marker; nothing else is written
 *    but objects that nothing leads to.
 * G2 The commit is found again by its own id, in the branch's history since the base: a message can be copied, an id cannot.
 * G3 What a post validator refuses is taken back only where the branch is still at our commit.
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

/** Throws TARGET_UNAVAILABLE or CONFIGURATION_ERROR; what the next attempt finds is in the repository. */
export function commitPatch(ctx: CommitContext): Promise<CommitResult> {
  return inRepository(ctx, async (repository) => {
    const base = gitBaseOf(ctx.approved);
    if (base === null)
      return { kind: 'refused', explanation: 'the approved record is of no git repository', final: true };
    if (base.ref !== repository.git.ref)
      return { kind: 'stale', explanation: `the target is now ${repository.git.ref}, approved was ${base.ref}` };
    const ours = commitObject(base, ctx.changeId, ctx.intentAt);
    const effect = effectOf(ctx.approved, base, ours);
    const found = await find(ctx, repository);
    switch (found.found) {
      case 'undone':
        return { kind: 'compensated', explanation: found.explanation, effect: found.effect };
      case 'sealed':
        return { kind: 'sealed' };
      case true:
        return afterwards(ctx, repository, base, ours, found.effect, true);
      case false:
        break;
      default:
        return found satisfies never;
    }
    const moved = await write(ctx, repository, base, ours, effect);
    return moved ?? afterwards(ctx, repository, base, ours, effect, false);
  });
}

/** Null where it was written. */
async function write(
  ctx: CommitContext,
  repository: Repository,
  base: GitBase,
  ours: CommitObject,
  effect: JsonObject,
): Promise<CommitResult | null> {
  const tip = await tipOf(repository, base.ref);
  if (tip !== base.commit) return stale(base, tip);
  const patched = await applyPatch(repository, base.commit, ctx.diff.raw, true);
  if (!patched.ok) return { kind: 'stale', explanation: patched.explanation };
  if (patched.after !== base.treeAfter || canonicalJson(patched.changed) !== canonicalJson(base.paths))
    return { kind: 'stale', explanation: 'the patch makes another tree than was approved' };
  const written = await repository.read(['hash-object', '-t', 'commit', '-w', '--stdin'], {
    stdin: ours.body,
    own: true,
  });
  if (written.toString('utf8').trim() !== ours.id) throw new Error('git gives our commit another id than we do');
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
      // A lock, a full disk, another attempt that is under way: the next one looks again.
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
    explanation: `${base.ref} is at ${tip ?? 'nothing'}, approved was ${base.commit}`,
  };
}

/** What the receipt tells of the effect: ids and counts, no content. */
function effectOf(approved: StagingRecord, base: GitBase, ours: CommitObject): JsonObject {
  const { ref, commit, treeAfter, paths } = base;
  return { stagingSha: stagingSha(approved), ref, commit: ours.id, base: commit, tree: treeAfter, paths: paths.length };
}

/** G3. Called again by whoever finds the effect: the same validators say the same. */
async function afterwards(
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
  const undone = await writeMarkerBlob(repository, { changeId: ctx.changeId, state: 'undone', effect, explanation });
  const updated = await updateRefs(repository, [
    `update ${base.ref} ${base.commit} ${ours.id}`,
    marker === null
      ? `create ${markerRef(ctx.changeId)} ${undone}`
      : `update ${markerRef(ctx.changeId)} ${undone} ${marker.blob}`,
  ]);
  if (updated.kind === 'done') return { kind: 'compensated', explanation, effect };
  if ((await tipOf(repository, base.ref)) === ours.id) throw targetUnavailable(repository.target, updated.explanation);
  const again = await readMarker(repository, ctx.changeId);
  if (again?.marker.state === 'undone') return { kind: 'compensated', explanation, effect };
  return { kind: 'applied', effect, replayed, stands: `${explanation}; somebody has written to ${base.ref} since` };
}

type Found = Exclude<ReadBack, { readonly found: 'unknown' }> | { readonly found: 'sealed' };

function fromMarker(stored: StoredMarker | null): Found | null {
  if (stored === null) return null;
  const { marker } = stored;
  switch (marker.state) {
    case 'applied':
      return { found: true, effect: marker.effect, unchecked: true };
    case 'undone':
      return { found: 'undone', effect: marker.effect, explanation: marker.explanation };
    case 'sealed':
      return { found: 'sealed' };
    default:
      return marker satisfies never;
  }
}

/** G2. Bounded by what was committed since the base. */
async function holds(repository: Repository, base: GitBase, id: string): Promise<boolean> {
  const tip = await tipOf(repository, base.ref);
  if (tip === null || tip === base.commit) return false;
  if (tip === id) return true;
  const there = await repository.run(['cat-file', '-e', `${id}^{commit}`]);
  if (there.kind === 'exited' && there.code !== 0) return false;
  const result = await repository.run(['merge-base', '--is-ancestor', id, tip]);
  if (result.kind === 'broken') throw targetUnavailable(repository.target, `git merge-base: ${result.explanation}`);
  return result.code === 0;
}

export function readBackPatch(ctx: SettleContext): Promise<ReadBack> {
  return inRepository(ctx, async (repository) => {
    const found = await find(ctx, repository);
    return found.found === 'sealed' ? { found: false } : found;
  });
}

export function sealPatch(ctx: SettleContext): Promise<ReadBack> {
  return inRepository(ctx, async (repository) => {
    const found = await find(ctx, repository);
    if (found.found === 'sealed') return { found: false };
    if (found.found !== false) return found;
    const blob = await writeMarkerBlob(repository, { changeId: ctx.changeId, state: 'sealed' });
    const updated = await updateRefs(repository, [`create ${markerRef(ctx.changeId)} ${blob}`]);
    if (updated.kind !== 'done') throw targetUnavailable(repository.target, `sealing: ${updated.explanation}`);
    // An attempt whose git was killed may have moved the branch before the seal stood, and left no marker.
    const ours = expectedOf(ctx);
    if (ours === null || !(await holds(repository, ours.base, ours.commit.id))) return { found: false };
    return { found: true, effect: ours.effect, unchecked: true };
  });
}

/** Null where there is no record or no intent: then no commit of ours can be anywhere. */
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
  const ours = expectedOf(ctx);
  const marked = fromMarker(await readMarker(repository, ctx.changeId));
  if (marked !== null) return marked;
  if (ours === null) return { found: false };
  return (await holds(repository, ours.base, ours.commit.id))
    ? { found: true, effect: ours.effect, unchecked: true }
    : { found: false };
}
