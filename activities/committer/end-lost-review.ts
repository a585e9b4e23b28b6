import type { JsonObject } from '../../policy/contracts/canonical-json';
import { invalid } from '../../policy/contracts/failure';
import type { RepairAction } from '../../policy/contracts/ledger';
import type { StoredRow } from '../../policy/evidence/chain';
import { cutExplanation } from '../../policy/text/cut-text';
import type { SettledOrUnknown } from '../review-types';
import { submissionIn } from '../rows';
import type { CommitDeps } from './commit-deps';
import { reconcile } from './reconcile';
import { beginRollback, settledOf } from './settlement';

/** Why a workflow can no longer end its review, or does not end after it, and what was done about it. */
export interface Repair {
  /** Kind of the problem, such as `terminated`. */
  readonly found: string;
  readonly did: RepairAction;
  /** For people. */
  readonly explanation: string;
  /** The run in which it was found; null if the workflow does not exist. */
  readonly runId: string | null;
  readonly workflowType: string | null;
  /** Of a reset: the event that it went back to, and whether later messages were sent again. */
  readonly point?: number;
  readonly withMessages?: boolean;
}

/** Records what the reconciler found and did. A repeated repair of the same run is recorded once. */
export async function recordRepair(deps: CommitDeps, changeId: string, repair: Repair): Promise<void> {
  const { found, did, runId, workflowType, point, withMessages } = repair;
  const reset = did === 'reset' ? { point: point ?? null, withMessages: withMessages ?? true } : {};
  const body: JsonObject = {
    found,
    did,
    runId,
    workflowType,
    ...reset,
    explanation: cutExplanation(repair.explanation),
  };
  const at = deps.now().toISOString();
  const factKey = `repaired:${did}:${found}:${runId ?? ''}`;
  await deps.ledger.append(changeId, [{ kind: 'repaired', at, factKey, body }]);
}

/** The resets of this review by the reconciler, in order. */
export function resetsOf(
  rows: readonly StoredRow[],
): { readonly at: number; readonly runId: string | null; readonly withMessages: boolean }[] {
  return rows
    .filter(({ row }) => row.kind === 'repaired' && row.body['did'] === 'reset')
    .map(({ row: { at, body } }) => ({
      at: Date.parse(at),
      runId: typeof body['runId'] === 'string' ? body['runId'] : null,
      withMessages: body['withMessages'] !== false,
    }));
}

/**
 * Ends a review that its workflow can no longer end. Settles it like any other: without an intent it writes the rollback
 * first, which prevents a later commit; after an intent the marker in the target decides. If it shows no effect, it is sealed, so
 * that a late attempt cannot commit. Returns EFFECT_UNKNOWN if the target cannot tell; the review then stays open for an operator.
 */
export async function endLostReview(deps: CommitDeps, changeId: string, repair: Repair): Promise<SettledOrUnknown> {
  const rows = await deps.ledger.read(changeId);
  const settled = settledOf(rows);
  if (settled !== null) return settled;
  if (submissionIn(rows) === null)
    throw invalid('changeId', 'a change that was opened', changeId, 'Submit the change first');
  // First, because the receipt names a reason that this row supports, whatever other rows arrive.
  await recordRepair(deps, changeId, repair);
  await beginRollback(deps, changeId, { reason: 'workflow_lost', explanation: cutExplanation(repair.explanation) });
  return reconcile(deps, changeId, 'workflow_lost');
}
