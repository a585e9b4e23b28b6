import { changeId as changeIdOf } from '../../policy/contracts/change-id';
import { Submission } from '../../policy/contracts/diff';
import { digestMismatch, invalid } from '../../policy/contracts/failure';
import { RollbackReason } from '../../policy/contracts/outcome';
import { cutExplanation } from '../../policy/text/cut-text';
import type { RollbackInput, Settled } from '../review-types';
import type { CommitDeps } from './commit-deps';
import { factsOfRows, factsOfSubmission } from './receipt-facts';
import { settleUnreported } from './reconcile';
import { begin, closeRolledBack, settledOf } from './settlement';

/**
 * Rolls the change back, unless a commit has begun; then the target's marker decides how it ends. Also for a change that was
 * never opened. Fails with VALIDATION_ERROR or DIGEST_MISMATCH, not retried, if the input is not valid.
 */
export async function rollback(deps: CommitDeps, input: RollbackInput): Promise<Settled> {
  const rows = await deps.ledger.read(input.changeId);
  const settled = settledOf(rows);
  if (settled !== null) return settled;
  const { reason, submission } = parseInput(input);
  const opened = factsOfRows(rows, input.changeId);
  const facts = opened ?? factsOfSubmission(input.changeId, submission);
  const { tenant, target, sourceTool, inputSha, mode } = facts;
  const first =
    opened === null ? { tenant, target, sourceTool, inputSha, mode, openedAt: deps.now().toISOString() } : {};
  const explanation = cutExplanation(String(input.explanation));
  const settlement = await begin(deps, input.changeId, { kind: 'decided', reason, explanation }, {}, first);
  if (settlement.kind === 'decided') return closeRolledBack(deps, facts, settlement.reason, settlement.explanation);
  const result = await settleUnreported(deps, input.changeId);
  if (result.state === 'EFFECT_UNKNOWN' || result.state === 'REFUSED') throw new Error(result.explanation);
  return result;
}

function parseInput(input: RollbackInput): { readonly reason: RollbackReason; readonly submission: Submission } {
  if (changeIdOf(input.submission) !== input.changeId)
    throw digestMismatch('changeId', changeIdOf(input.submission), input.changeId);
  const reason = RollbackReason.safeParse(input.reason);
  if (!reason.success)
    throw invalid(
      'reason',
      `one of ${RollbackReason.options.join(', ')}`,
      JSON.stringify(input.reason),
      'Pass the reason for which the change is rolled back',
    );
  const submission = Submission.safeParse(input.submission);
  if (!submission.success)
    throw invalid(
      'submission',
      'the submission of this change',
      submission.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; '),
      'Pass the submission that the review was started with',
    );
  return { reason: reason.data, submission: submission.data };
}
