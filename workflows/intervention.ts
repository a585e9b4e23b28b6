import { isCancellation } from '@temporalio/workflow';
import { FailureType } from '../policy/contracts/failure-type';
import { MAX_VIOLATIONS } from '../policy/contracts/limits';
import { wakeDelayMs } from '../policy/decide/wake-delay';
import { matchPolicies, type TriggeredPolicy } from '../policy/decide/violations';
import { failureOf } from './failure';
import { continueWhenCalm, isLong } from './next-run';
import { reviewSteps } from './proxies';
import { waitOrTimeout } from './wait-or-timeout';
import { now, type Review } from './review-state';
import { readStatements } from './statements';
import type { ProposedRollback } from './settling';
import { publishStatus } from './reporting';

/**
 * Discloses the violations and waits until `decide` has enough answers, the deadline passes, or the change is withdrawn or
 * superseded. Returns the reason if the review ends here, else null.
 */
export async function intervene(change: Review): Promise<ProposedRollback | null> {
  const triggered = matchPolicies(change.plan, change.findings.all(), change.cardinality);
  if (triggered.length > MAX_VIOLATIONS) change.findings.recordTooManyViolations(triggered.length);
  if (triggered.length === 0 || change.findings.hasHardBlock() || change.stopped !== null) return null;
  change.disclosing = true;
  try {
    await disclose(change, triggered);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return disclosureFailed(error);
  } finally {
    change.disclosing = false;
  }
  if (change.decideAt(now()).action !== 'WAIT') return null;

  change.state = 'INTERVENTION_REQUIRED';
  publishStatus(change);
  await waitForAnswers(change);
  return null;
}

/** Violations that were not disclosed cannot be confirmed. The activity was retried for 24 hours, so the review ends as expired. */
function disclosureFailed(error: unknown): ProposedRollback {
  const { type, message, final } = failureOf(error);
  const explanation = `The violations could not be disclosed: ${message}`;
  if (type === FailureType.PolicyMoved) return { reason: 'policy_moved', explanation };
  return { reason: final ? 'commit_failed' : 'expired', explanation };
}

async function disclose(change: Review, triggered: readonly TriggeredPolicy[]): Promise<void> {
  const { changeId, stagingSha } = change;
  const summary = `${triggered.length} violation${triggered.length === 1 ? '' : 's'}`;
  const input = { changeId, stagingSha, unrecorded: change.findings.unrecorded() };
  change.disclose(triggered, await reviewSteps(change.localTurn, summary).disclose(input));
}

/**
 * One durable timer at a time, for the next deadline and the delay of this review (`wakeDelayMs`). Before a deadline counts as missed,
 * the answers are read from the ledger again. If that brings an answer, others with a later deadline may still be missing: `settle`
 * then says so.
 */
export async function waitForAnswers(change: Review): Promise<void> {
  const settled = (): boolean => change.stopped !== null || !change.stillWaits();
  const mustContinue = (): boolean => change.mayContinue && isLong();
  while (!settled()) {
    if (change.lookAgain) {
      change.lookAgain = false;
      await readStatements(change, 'answers in the ledger');
      continue;
    }
    if (mustContinue()) {
      await continueWhenCalm(change, { what: 'answers' }, () => settled() || change.lookAgain);
      continue;
    }
    const decided = change.decideAt(now());
    if (decided.action !== 'WAIT') break;
    const deadline = Date.parse(decided.nextDeadline);
    const since = Date.parse(change.disclosedAt ?? decided.nextDeadline);
    const wakeAt = deadline + wakeDelayMs(change.changeId, since, deadline);
    await waitOrTimeout(
      Math.max(1, wakeAt - Date.now()),
      `deadline ${decided.nextDeadline}`,
      () => settled() || mustContinue() || change.lookAgain,
    );
  }
  if (change.stopped === null && isExpired(change)) await readStatements(change, 'answers before the deadline');
}

function isExpired(change: Review): boolean {
  const decided = change.decideAt(now());
  return decided.action === 'ROLLBACK' && decided.reason === 'expired';
}
