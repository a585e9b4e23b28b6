import { ApplicationFailure, CancellationScope } from '@temporalio/workflow';
import type { CommitInput, CommitReport, Settled, SettledOrUnknown } from '../activities/review-types';
import { withoutInline } from '../policy/contracts/diff';
import { FailureType } from '../policy/contracts/failure-type';
import type { RollbackReason } from '../policy/contracts/outcome';
import { failureOf } from './failure';
import { committing, settling } from './proxies';
import { waitOrTimeout } from './wait-or-timeout';
import { now, type Review } from './review-state';
import { preflightOf } from './review-status';
import { publishStatus, showDetails, signalRequester } from './reporting';
import { readStatements } from './statements';
import { MAX_EXPLANATION_LENGTH } from '../policy/contracts/limits';
import { cutText } from '../policy/text/cut-text';
import { continueWhenCalm, isLong } from './next-run';

/** Why this workflow asks for a rollback (W4). */
export interface ProposedRollback {
  readonly reason: RollbackReason;
  readonly explanation: string;
}

/**
 * Decides, then commits or rolls back (W3). `wait`: an answer is missing, so nothing was requested, or the commit did not begin because
 * a confirmation was taken back meanwhile. The review then waits for answers again.
 */
export async function settle(change: Review, skipped?: 'static_block' | 'staged_block'): Promise<'ended' | 'wait'> {
  if (skipped !== undefined) change.findings.skipRest(skipped);
  // A withdrawal before the decision takes precedence over the answers.
  if (change.stopped !== null) return rollBack(change, change.stopped, 'withdrawn');
  const decided = change.decideAt(now());
  switch (decided.action) {
    case 'COMMIT':
      return commit(change);
    case 'ROLLBACK':
      return rollBack(change, decided);
    case 'WAIT':
      return 'wait';
    default:
      return decided satisfies never;
  }
}

/** After this time the workflow fails (W5). */
const UNKNOWN_LIMIT_MS = 30 * 24 * 60 * 60_000;
const LOOK_AGAIN_MS = 10 * 60_000;

async function commit(change: Review): Promise<'ended' | 'wait'> {
  change.state = 'COMMITTING';
  // The state usually lasts for a tenth of a second, and attributes and memo cost events. They get the last answer with the end.
  showDetails(change);
  const input = commitInput(change);
  // From here on the effect may exist: a cancellation must not leave it unresolved.
  return CancellationScope.nonCancellable(async () => {
    let result: CommitReport;
    try {
      result = await committing('commit', change.plan.commitWindowMs).commit(input);
    } catch (error) {
      result = { state: 'EFFECT_UNKNOWN', explanation: `The commit did not report: ${failureOf(error).message}` };
    }
    return result.state === 'REFUSED' ? refused(change, result) : resolve(change, result, Date.now());
  });
}

/**
 * Statements that arrived while the commit was requested take precedence over the refusal of the committer. They are read again, since
 * the committer may have refused because of a row whose admission has not returned.
 */
async function refused(change: Review, refusal: ProposedRollback): Promise<'ended' | 'wait'> {
  await readStatements(change, 'answers after the refusal');
  const decided = change.decideAt(now());
  if (change.stopped === null && decided.action === 'WAIT') return 'wait';
  return rollBack(change, change.stopped ?? (decided.action === 'ROLLBACK' ? decided : refusal));
}

/** Goes on in a new run with a commit whose effect is unknown since then (`continueWhenCalm`). */
export function resumeUnknown(change: Review, since: number): Promise<'ended'> {
  return CancellationScope.nonCancellable(async () =>
    resolve(change, await settling('read the marker').reconcile(commitInput(change)), since),
  );
}

/** Asks the target again until the effect is known. */
async function resolve(change: Review, result: SettledOrUnknown, since: number): Promise<'ended'> {
  const input = commitInput(change);
  while (result.state === 'EFFECT_UNKNOWN') {
    if (Date.now() - since > UNKNOWN_LIMIT_MS)
      throw ApplicationFailure.nonRetryable(
        `The effect is unknown for 30 days: ${result.explanation}`,
        FailureType.Target,
      );
    change.state = 'EFFECT_UNKNOWN';
    publishStatus(change, result.explanation);
    // Reset before reconciling, so that a signal that arrives meanwhile is not lost.
    change.lookAgain = false;
    result = await settling('read the marker').reconcile(input);
    if (result.state === 'EFFECT_UNKNOWN') {
      if (isLong()) await continueWhenCalm(change, { what: 'effect', since }, () => change.lookAgain);
      await waitOrTimeout(LOOK_AGAIN_MS, 'an operator must resolve the effect', () => change.lookAgain);
    }
  }
  return end(change, result);
}

function commitInput({ changeId, planHash, stagingSha, fingerprint }: Review): CommitInput {
  return { changeId, planHash, stagingSha, fingerprint };
}

export async function rollBack(
  change: Review,
  proposed: ProposedRollback,
  skip?: 'static_block' | 'staged_block' | 'withdrawn',
  tries: 'until_supported' | 'once' = 'until_supported',
): Promise<'ended'> {
  if (skip !== undefined) change.findings.skipRest(skip);
  change.state = 'COMMITTING';
  // A rollback that may be refused leaves the change open: its ledger decides whether a message comes too late.
  change.rollingBack = tries === 'until_supported';
  const input = {
    changeId: change.changeId,
    submission: withoutInline(change.submission),
    reason: proposed.reason,
    explanation: cutText(proposed.explanation, MAX_EXPLANATION_LENGTH),
  };
  return CancellationScope.nonCancellable(async () =>
    end(change, await settling(`roll back: ${proposed.reason}`, tries).rollback(input)),
  );
}

/** State and reason are the committer's (W4). */
async function end(change: Review, settled: Settled): Promise<'ended'> {
  const { submission } = change;
  change.state = settled.state;
  change.reason = settled.reason;
  change.outcome = {
    changeId: change.changeId,
    state: settled.state,
    action: settled.state === 'COMMITTED' ? 'COMMIT' : 'ROLLBACK',
    reason: settled.reason,
    explanation: settled.explanation,
    mode: settled.mode,
    inputSha: change.inputSha,
    planHash: settled.planHash,
    stagingSha: settled.stagingSha,
    receipt: settled.receipt,
  };
  change.preflight ??= preflightOf(change);
  publishStatus(change);
  if (submission.replyTo !== undefined) await signalRequester(change, submission.replyTo, change.outcome);
  return 'ended';
}
