import { ApplicationFailure, isCancellation } from '@temporalio/workflow';
import { FailureType } from '../policy/contracts/failure-type';
import { MAX_VIOLATIONS } from '../policy/contracts/limits';
import { cardinalityOf, matchPolicies, tooMany, type TriggeredPolicy } from '../policy/decide/violations';
import { failureOf } from './failure';
import { opening } from './proxies';
import { raceTimer } from './race-timer';
import { now, reference, type Review } from './review-state';
import type { Ending } from './settling';
import { announce, show } from './telling';

/**
 * Discloses the violations and waits until `decide` has heard enough, the deadline passes, or the change is taken back.
 * Returns why the review ends here, or null.
 */
export async function intervene(change: Review): Promise<Ending | null> {
  const triggered = matchPolicies(change.plan, change.findings(), cardinalityOf(change.staging));
  if (triggered.length > MAX_VIOLATIONS) change.overflow(triggered.length);
  if (triggered.length === 0 || change.isForbidden() || change.stopped !== null) return null;
  change.disclosing = true;
  try {
    await disclose(change, triggered);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return undisclosed(error);
  } finally {
    change.disclosing = false;
  }
  if (change.decideAt(now()).action !== 'WAIT') return null;

  change.state = 'INTERVENTION_REQUIRED';
  show(change);
  announce(change, 'intervention_required');
  await waitForAnswers(change);
  return null;
}

/** What nobody could be shown, nobody can confirm. Retried for a day before: then it is as if nobody had answered. */
function undisclosed(error: unknown): Ending {
  const { type, message, final } = failureOf(error);
  const explanation = `The violations could not be disclosed: ${message}`;
  if (type === FailureType.PolicyMoved) return { reason: 'policy_moved', explanation };
  return { reason: final ? 'commit_failed' : 'expired', explanation };
}

async function disclose(change: Review, triggered: readonly TriggeredPolicy[]): Promise<void> {
  const requester = change.opened?.requester ?? null;
  const input = {
    ...reference(change),
    stagingSha: change.stagingSha,
    requester,
    findings: change.findings(),
    triggered,
  };
  const disclosed = await opening(`${triggered.length} violation${triggered.length === 1 ? '' : 's'}`).disclose(input);
  change.violations = disclosed.violations;
  change.fingerprint = disclosed.fingerprint;
  change.disclosedAt = disclosed.disclosedAt;
  change.reachable = disclosed.reachable;
  if (tooMany(disclosed.violations))
    throw ApplicationFailure.nonRetryable('More violations than were counted', FailureType.Validation);
}

/** One durable timer at a time, to the next reminder or the next deadline, whichever comes first. */
async function waitForAnswers(change: Review): Promise<void> {
  const settled = (): boolean => change.stopped !== null || change.decideAt(now()).action !== 'WAIT';
  while (!settled()) {
    const decided = change.decideAt(now());
    if (decided.action !== 'WAIT') return;
    const untilDeadline = Math.max(1, Date.parse(decided.nextDeadline) - Date.now());
    const reminder = change.plan.remindEveryMs;
    const isReminder = reminder !== null && reminder < untilDeadline;
    const summary = isReminder ? 'next reminder' : `deadline ${decided.nextDeadline}`;
    const fired = await raceTimer(isReminder ? reminder : untilDeadline, summary, settled);
    if (fired && isReminder) announce(change, 'reminder');
  }
}
