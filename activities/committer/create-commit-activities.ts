import type { CommitActivities, RollbackInput, Settled } from '../review-types';
import { commit } from './commit';
import type { CommitDeps } from './commit-deps';
import { reconcile } from './reconcile';
import { changeId as changeIdOf } from '../../policy/contracts/change-id';
import { digestMismatch, invalid } from '../../policy/contracts/failure';
import { RollbackReason } from '../../policy/contracts/outcome';
import { readSubmission } from '../inputs';
import { settledOf } from './settlement';

/** All three are idempotent, regardless of caller and retries: the ledger and the target's marker decide. */
export function createCommitActivities(deps: CommitDeps): Pick<CommitActivities, 'commit' | 'rollback' | 'reconcile'> {
  return {
    commit: (input) => commit(deps, input),
    rollback: (input) => rollback(deps, input),
    reconcile: (input) => reconcile(deps, input.changeId),
  };
}

/**
 * Rolls the change back, unless a commit has begun; then the target's marker decides how it ends. The reason is one that the rows
 * support (supported-ending.ts), also if rows arrive while it is verified, and the explanation comes from them, never from the caller.
 * Fails with VALIDATION_ERROR or DIGEST_MISMATCH, not retried, if the input is not valid or the change was never opened: nothing is
 * signed then.
 */
async function rollback(deps: CommitDeps, input: RollbackInput): Promise<Settled> {
  const settled = settledOf(await deps.ledger.read(input.changeId));
  if (settled !== null) return settled;
  const { changeId, reason } = parseInput(input);
  // An effect that is unknown is recorded, so that an operator finds it while this is retried.
  const result = await reconcile(deps, changeId, reason);
  if (result.state === 'EFFECT_UNKNOWN') throw new Error(result.explanation);
  return result;
}

function parseInput(input: RollbackInput): { readonly changeId: string; readonly reason: RollbackReason } {
  const reason = RollbackReason.safeParse(input.reason);
  if (!reason.success)
    throw invalid(
      'reason',
      `one of ${RollbackReason.options.join(', ')}`,
      JSON.stringify(input.reason),
      'Pass the reason for which the change is rolled back',
    );
  const expected = changeIdOf(readSubmission(input.submission));
  if (expected !== input.changeId) throw digestMismatch('changeId', expected, input.changeId);
  return { changeId: input.changeId, reason: reason.data };
}
