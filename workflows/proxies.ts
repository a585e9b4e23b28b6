import { proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { CommitActivities, JudgeActivities, ReviewActivities } from '../activities/review-types';
import { COMMIT_ATTEMPT_MS, MAX_GUARDIAN_ATTEMPTS, SETTLE_ATTEMPT_MS } from '../policy/contracts/limits';
import { STEP_MS } from '../policy/contracts/step-times';
import { siblingQueue } from '../policy/contracts/queues';
import type { LocalTurn } from './local-turn';

/**
 * Timeouts and retries of each activity. All are bounded, so every wait has an end. A failure that is marked as not retryable
 * ends the activity at once.
 */
const steady = { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 s' } as const;

/** For our own database or a missing worker: wait long, because waiting loses nothing. */
const patient = { startToCloseTimeout: '30 s', scheduleToCloseTimeout: STEP_MS.review, retry: steady } as const;

/** After the last failed attempt the validators give ERROR findings, which a person answers. */
export function guardians(summary: string): ReviewActivities {
  return proxyActivities<ReviewActivities>({
    startToCloseTimeout: '60 s',
    scheduleToCloseTimeout: STEP_MS.guardians,
    retry: { ...steady, maximumAttempts: MAX_GUARDIAN_ATTEMPTS },
    summary,
  });
}

/**
 * A local activity saves a workflow task and the events of an activity. It is tried once and for less than the 8 s after which the SDK
 * would extend the workflow task: a local activity that retries for long writes events all the time. What it leaves undone is repeated
 * as an activity, which the server retries; all activities of this worker are idempotent.
 */
const inTask = { startToCloseTimeout: '5 s', retry: { maximumAttempts: 1 } } as const;

type InTask = Pick<ReviewActivities, 'openReview' | 'disclose' | 'admitAnswer' | 'admitWithdrawal' | 'readStatements'>;

function inTaskFirst(turn: LocalTurn, summary: string, later: ReviewActivities): InTask {
  const local = proxyLocalActivities<ReviewActivities>({ ...inTask, summary });
  const inTurn =
    <I, R>(first: (input: I) => Promise<R>, repeated: (input: I) => Promise<R>) =>
    (input: I): Promise<R> =>
      turn.run(
        () => first(input),
        () => repeated(input),
      );
  return {
    openReview: inTurn(local.openReview, later.openReview),
    disclose: inTurn(local.disclose, later.disclose),
    admitAnswer: inTurn(local.admitAnswer, later.admitAnswer),
    admitWithdrawal: inTurn(local.admitWithdrawal, later.admitWithdrawal),
    readStatements: inTurn(local.readStatements, later.readStatements),
  };
}

/** Waits long for our own database. */
export function reviewSteps(
  turn: LocalTurn,
  summary: string,
): Pick<InTask, 'openReview' | 'disclose' | 'readStatements'> {
  return inTaskFirst(turn, summary, proxyActivities<ReviewActivities>({ ...patient, summary }));
}

/** The sender of an update waits for the result and must learn of a failure soon; an answer sent by signal must not be lost. */
export function admission(
  turn: LocalTurn,
  summary: string,
  via: 'update' | 'signal',
): Pick<InTask, 'admitAnswer' | 'admitWithdrawal'> {
  const scheduleToCloseTimeout = via === 'update' ? '60 s' : '24 h';
  return inTaskFirst(turn, summary, proxyActivities<ReviewActivities>({ ...patient, scheduleToCloseTimeout, summary }));
}

/** The HTTP client's deadline is 60 s, so 75 s bounds one attempt. At most four attempts in ten minutes. */
export function judge(summary: string): JudgeActivities {
  return proxyActivities<JudgeActivities>({
    taskQueue: siblingQueue(workflowInfo().taskQueue, 'judge'),
    startToCloseTimeout: '75 s',
    heartbeatTimeout: '15 s',
    scheduleToCloseTimeout: STEP_MS.judge,
    retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '30 s', maximumAttempts: 4 },
    summary,
  });
}

export function judgeFailure(summary: string): JudgeActivities {
  return proxyActivities<JudgeActivities>({
    taskQueue: siblingQueue(workflowInfo().taskQueue, 'judge'),
    startToCloseTimeout: '30 s',
    scheduleToCloseTimeout: STEP_MS.judgeFailure,
    retry: steady,
    summary,
  });
}

/** Waits at most one hour for a target that is down. */
export function staging(summary: string): CommitActivities {
  return committing(summary, STEP_MS.dryRun);
}

/** Bounded by the plan's commit window: after it the answers have expired. */
export function committing(summary: string, within: number): CommitActivities {
  return proxyActivities<CommitActivities>({
    taskQueue: siblingQueue(workflowInfo().taskQueue, 'commit'),
    startToCloseTimeout: COMMIT_ATTEMPT_MS,
    heartbeatTimeout: '30 s',
    scheduleToCloseTimeout: within,
    retry: steady,
    summary,
  });
}

/** Rolling back and resolving an unknown effect need the committer, even after a long outage. */
export function settling(summary: string, tries: 'until_supported' | 'once' = 'until_supported'): CommitActivities {
  return proxyActivities<CommitActivities>({
    taskQueue: siblingQueue(workflowInfo().taskQueue, 'commit'),
    startToCloseTimeout: SETTLE_ATTEMPT_MS,
    scheduleToCloseTimeout: '30 days',
    retry: { ...steady, maximumInterval: '60 s', ...(tries === 'once' ? { maximumAttempts: 5 } : {}) },
    summary,
  });
}
