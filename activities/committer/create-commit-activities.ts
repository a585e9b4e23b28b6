import type { CommitActivities } from '../review-types';
import { commit } from './commit';
import type { CommitDeps } from './commit-deps';
import { reconcile } from './reconcile';
import { rollback } from './rollback';

/** All three are idempotent, regardless of caller and retries: the ledger and the target's marker decide. */
export function createCommitActivities(deps: CommitDeps): Pick<CommitActivities, 'commit' | 'rollback' | 'reconcile'> {
  return {
    commit: (input) => commit(deps, input),
    rollback: (input) => rollback(deps, input),
    reconcile: (input) => reconcile(deps, input.changeId),
  };
}
