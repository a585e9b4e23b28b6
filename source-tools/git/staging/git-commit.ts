/**
 * Commit and seal of a patch.
 *
 * G1 The branch moves from the approved base by compare-and-set, in one transaction with the marker. Everything else that is
 *    written is unreachable objects.
 * G2 The commit is found by its id in the branch's history since the base. A message can be copied, an id cannot.
 * G3 A commit that a post validator rejects is reverted only if the branch is still at that commit.
 * G4 A commit is either reported as applied or reverted. An attempt seals the rows in our database before it reports, and writes a row
 *    before it reverts; the first of the two forbids the other. After the second, each attempt completes the revert, and the commit
 *    counts as reverted if the branch does not contain it.
 */
import { canonicalJson, type JsonObject } from '../../../policy/contracts/canonical-json';
import { stagingSha, type StagingRecord } from '../../../policy/contracts/staging-record';
import type { CommitContext, CommitResult, ReadBack, SettleContext } from '../../../policy/contracts/target-effects';
import { targetUnavailable } from '../../target-failure';
import { applyPatch } from './apply-patch';
import { commitObject, type CommitObject } from './commit-object';
import { markerRef, readMarker, updateRefs, writeMarkerBlob, type Marker, type StoredMarker } from './git-marker';
import { gitBaseOf, type GitBase } from './git-record';
import { inRepository, tipOf, type Repository } from './repository';

/** Idempotent: a retry finds the earlier result in the repository. Throws TARGET_UNAVAILABLE or CONFIGURATION_ERROR. */
export function commitPatch(ctx: CommitContext): Promise<CommitResult> {
  return inRepository(ctx, async (repository) => {
    const base = gitBaseOf(ctx.approved);
    if (base === null) return { kind: 'refused', explanation: 'the approved record is not of a git repository' };
    if (base.ref !== repository.git.ref)
      return { kind: 'stale', explanation: `the target is now ${repository.git.ref}, but ${base.ref} was approved` };
    const written = writtenBy(ctx.approved, base, ctx);
    const found = await find(ctx, repository);
    if (found.found === 'undone') return fromUndo(found);
    const { undoing } = await ctx.sends.state();
    if (undoing !== null) return fromUndo(await undo(ctx, repository, written, undoing));
    switch (found.found) {
      case 'sealed':
        return { kind: 'sealed' };
      case true:
        return checkAfterCommit(ctx, repository, { ...written, effect: found.effect }, true);
      case false:
        break;
      default:
        return found satisfies never;
    }
    return (await write(ctx, repository, written)) ?? checkAfterCommit(ctx, repository, written, false);
  });
}

/** What each attempt writes (commit-object.ts). */
interface Written {
  readonly base: GitBase;
  readonly commit: CommitObject;
  readonly effect: JsonObject;
}

function writtenBy(
  approved: StagingRecord,
  base: GitBase,
  { changeId, intentAt }: { readonly changeId: string; readonly intentAt: string },
): Written {
  const commit = commitObject(base, changeId, intentAt);
  return { base, commit, effect: effectOf(approved, base, commit) };
}

/** Null if the commit was written. */
async function write(
  ctx: CommitContext,
  repository: Repository,
  { base, commit, effect }: Written,
): Promise<CommitResult | null> {
  const tip = await tipOf(repository, base.ref);
  if (tip !== base.commit) return stale(base, tip);
  const patched = await applyPatch(repository, base.commit, ctx.diff.raw, { persist: true });
  if (!patched.ok) return { kind: 'stale', explanation: patched.explanation };
  if (patched.after !== base.treeAfter || canonicalJson(patched.changed) !== canonicalJson(base.paths))
    return { kind: 'stale', explanation: 'the patch produces a different tree than was approved' };
  const written = await repository.readText(['hash-object', '-t', 'commit', '-w', '--stdin'], {
    stdin: commit.body,
    persist: true,
  });
  if (written !== commit.id) throw new Error('git computed a different id for the commit');
  const blob = await writeMarkerBlob(repository, { changeId: ctx.changeId, state: 'applied', effect });
  const ended = (await ctx.endedMeanwhile?.()) ?? null;
  if (ended !== null) return { kind: 'refused', explanation: ended };
  const updated = await updateRefs(repository, [
    `update ${base.ref} ${commit.id} ${base.commit}`,
    `create ${markerRef(ctx.changeId)} ${blob}`,
  ]);
  switch (updated.kind) {
    case 'done':
      return null;
    case 'moved': {
      const now = await tipOf(repository, base.ref);
      if (now !== base.commit && now !== commit.id) return stale(base, now);
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

/** Runs the post validators and reverts the commit if one rejects it (G3, G4). A retry repeats this with the same result. */
async function checkAfterCommit(
  ctx: CommitContext,
  repository: Repository,
  written: Written,
  replayed: boolean,
): Promise<CommitResult> {
  const record = { ...ctx.approved, base: { ...ctx.approved.base, written: written.commit.id } };
  const post = await ctx.postCheck?.(record);
  const why = post?.ok === false ? post.explanation : null;
  if (why !== null) await ctx.sends.beginUndo(why);
  const { undoing } = why === null ? await ctx.sends.seal() : await ctx.sends.state();
  if (undoing !== null) return fromUndo(await undo(ctx, repository, written, undoing));
  const applied = { kind: 'applied', effect: written.effect, replayed } as const;
  if (why === null) return applied;
  return { ...applied, shouldBeReverted: `${why}; it was not reverted, because it may have been reported as applied` };
}

type Undone = Extract<ReadBack, { readonly found: 'undone' }>;
type Kept = { readonly found: true; readonly effect: JsonObject; readonly shouldBeReverted: string };

/**
 * Reverts the commit, or records that it stays because the branch has moved on; both replace the marker by compare-and-set, so only the
 * first counts.
 */
async function undo(
  { changeId }: SettleContext,
  repository: Repository,
  written: Written,
  explanation: string,
): Promise<Undone | Kept> {
  const { base, commit, effect } = written;
  const undone = { found: 'undone', effect, explanation } as const;
  const stored = await readMarker(repository, changeId);
  if (stored?.marker.state === 'undone') return undone;
  if (stored?.marker.state === 'applied' && stored.marker.shouldBeReverted !== undefined)
    return { found: true, effect, shouldBeReverted: stored.marker.shouldBeReverted };
  const replaceMarker = async (marker: Marker): Promise<string> => {
    const blob = await writeMarkerBlob(repository, marker);
    const ref = markerRef(changeId);
    return stored === null ? `create ${ref} ${blob}` : `update ${ref} ${blob} ${stored.blob}`;
  };
  const reverted = await updateRefs(repository, [
    `update ${base.ref} ${base.commit} ${commit.id}`,
    await replaceMarker({ changeId, state: 'undone', effect, explanation }),
  ]);
  if (reverted.kind === 'done') return undone;
  if ((await tipOf(repository, base.ref)) === commit.id)
    throw targetUnavailable(repository.target, reverted.explanation);
  // Git may have been killed after it moved the branch back and before it moved the marker.
  if (!(await branchContains(repository, written))) return undone;
  const shouldBeReverted = `${explanation}; ${base.ref} has moved since`;
  const kept = await updateRefs(repository, [
    await replaceMarker({ changeId, state: 'applied', effect, shouldBeReverted }),
  ]);
  if (kept.kind !== 'done') throw targetUnavailable(repository.target, kept.explanation);
  return { found: true, effect, shouldBeReverted };
}

function fromUndo(end: Undone | Kept): CommitResult {
  const { effect } = end;
  return end.found === 'undone'
    ? { kind: 'compensated', explanation: end.explanation, effect }
    : { kind: 'applied', effect, replayed: true, shouldBeReverted: end.shouldBeReverted };
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

/** Whether the branch contains the commit (G2). Throws TARGET_UNAVAILABLE if its history cannot be read. */
async function branchContains(repository: Repository, { base, commit }: Written): Promise<boolean> {
  const tip = await tipOf(repository, base.ref);
  if (tip === null || tip === base.commit) return false;
  // Not `merge-base --is-ancestor`: its exit code for a history that it cannot read is the one for "no".
  const since = await repository.readText(['rev-list', tip, `^${base.commit}`]);
  return since.split('\n').includes(commit.id);
}

export function sealPatch(ctx: SettleContext): Promise<ReadBack> {
  return inRepository(ctx, async (repository) => {
    const found = await find(ctx, repository);
    const written = expectedOf(ctx);
    const { undoing } = await ctx.sends.state();
    if (found.found !== 'undone' && undoing !== null && written !== null)
      return undo(ctx, repository, written, undoing);
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

/** What an attempt would have written; null without a record or intent, because then no attempt was made. */
function expectedOf({ approved, intentAt, changeId }: SettleContext): Written | null {
  const base = gitBaseOf(approved);
  if (approved === null || base === null || intentAt === null) return null;
  return writtenBy(approved, base, { changeId, intentAt });
}

async function find(ctx: SettleContext, repository: Repository): Promise<Found> {
  const marked = fromMarker(await readMarker(repository, ctx.changeId));
  const written = expectedOf(ctx);
  if (marked !== null && marked.found !== 'sealed') return marked;
  // Also with a seal: an attempt whose git process was killed may have moved the branch before, without a marker.
  if (written !== null && (await branchContains(repository, written)))
    return { found: true, effect: written.effect, unchecked: true };
  return marked ?? { found: false };
}
