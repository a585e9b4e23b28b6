import type { ReviewOutcome, WorkflowOutcome } from '../policy/contracts/outcome';
import { isNotAllow, toFindingProjection, type Preflight, type ReviewStatus } from '../policy/contracts/status';
import { verifyOutcome, type ReceiptTrust, type Verification } from './receipt';

interface Ended<S extends ReviewOutcome['state']> {
  readonly state: S;
  readonly outcome: ReviewOutcome;
  /** Whether a receipt of a trusted committer binds the whole outcome, with every word in it. */
  readonly verified: boolean;
  /** Why it is not verified; null if `verified` is true. */
  readonly why: string | null;
}

/** The result of a review: a closed union on `state`. */
export type ReviewResult =
  /** Still open. `status` is null if the client cannot verify it: without the ledger, without trusted keys, or before it is opened. */
  | { readonly state: 'PENDING'; readonly status: ReviewStatus | null }
  | Ended<'COMMITTED'>
  | Ended<'ROLLED_BACK'>
  | Ended<'COMPENSATED'>
  /**
   * There is no outcome: the workflow was terminated, cancelled or failed before the ledger opened the review; or the ledger has its end
   * without a readable receipt. A client without a ledger reports each workflow that failed: then the review may still be open in the
   * ledger, and may be committed. Whether there was an effect can only be learned from the ledger and the target.
   */
  | { readonly state: 'ABORTED'; readonly verified: false; readonly why: string };

export function toResult(changeId: string, outcome: ReviewOutcome, trust: ReceiptTrust | null): ReviewResult {
  return resultOf(outcome, verifyOutcome(changeId, outcome, trust));
}

/** What a workflow returned. Findings and violations, which its outcome does not have, are empty: they are in the ledger. */
export function toWorkflowResult(changeId: string, said: WorkflowOutcome, trust: ReceiptTrust | null): ReviewResult {
  const { state, action, reason, explanation, mode, inputSha, planHash, stagingSha, receipt } = said;
  const ids = { changeId: said.changeId, inputSha, planHash, stagingSha };
  const outcome = { ...ids, state, action, reason, explanation, mode, receipt };
  return resultOf({ ...outcome, findings: [], violations: [] }, verifyOutcome(changeId, outcome, trust));
}

function resultOf(outcome: ReviewOutcome, verification: Verification): ReviewResult {
  const { state } = outcome;
  switch (state) {
    case 'COMMITTED':
      return { state, outcome, ...verification };
    case 'ROLLED_BACK':
      return { state, outcome, ...verification };
    case 'COMPENSATED':
      return { state, outcome, ...verification };
    default:
      state satisfies never;
      // Of a forged workflow: nothing else has checked its outcome.
      return { state: 'ABORTED', verified: false, why: 'The workflow returned a state that does not exist' };
  }
}

/** The preflight of a closed review, which `submit` returns if the change is submitted again. */
export function toPreflight(outcome: ReviewOutcome): Preflight {
  return {
    changeId: outcome.changeId,
    planHash: outcome.planHash,
    provisional: true,
    forbidden: outcome.reason === 'forbidden',
    findings: outcome.findings
      .filter((finding) => finding.phase === 'preflight' && isNotAllow(finding))
      .map(toFindingProjection),
  };
}
