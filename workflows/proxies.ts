import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { CommitActivities, JudgeActivities, ReviewActivities } from '../activities/review-types';
import { siblingQueue } from '../policy/contracts/queues';

/**
 * How each activity is retried. A time-out and a bound on each: every wait has an end. What the activity itself says is
 * not retryable (types in `failure-type.ts`) ends at once.
 */
const steady = { initialInterval: '500 ms', backoffCoefficient: 2, maximumInterval: '30 s' } as const;

/** Our own database or an absent worker: wait long, since nothing is lost by waiting. */
const patient = { startToCloseTimeout: '30 s', scheduleToCloseTimeout: '24 h', retry: steady } as const;

export function opening(summary: string): ReviewActivities {
  return proxyActivities<ReviewActivities>({ ...patient, summary });
}

/** A guardian that cannot answer in three attempts becomes an ERROR, which a human answers. */
export function guardians(summary: string): ReviewActivities {
  return proxyActivities<ReviewActivities>({
    startToCloseTimeout: '60 s',
    scheduleToCloseTimeout: '15 min',
    retry: { ...steady, maximumAttempts: 3 },
    summary,
  });
}

/** An update's sender waits for its verdict, so it hears of trouble soon; a signal's answer must not be lost. */
export function admission(summary: string, via: 'update' | 'signal'): ReviewActivities {
  return proxyActivities<ReviewActivities>({
    ...patient,
    scheduleToCloseTimeout: via === 'update' ? '60 s' : '24 h',
    summary,
  });
}

export function notices(summary: string): ReviewActivities {
  return proxyActivities<ReviewActivities>({
    startToCloseTimeout: '15 s',
    scheduleToCloseTimeout: '10 min',
    retry: { ...steady, maximumAttempts: 6 },
    summary,
  });
}

/** The outcome stands already: a sink that stays away for a minute goes without this review. */
export function sinks(summary: string): ReviewActivities {
  return proxyActivities<ReviewActivities>({
    startToCloseTimeout: '10 s',
    scheduleToCloseTimeout: '60 s',
    retry: { ...steady, maximumAttempts: 5 },
    summary,
  });
}

/** judge.md §5.8: the client's own deadline is 60 s, so 75 s bounds one attempt; four attempts in ten minutes. */
export function judge(summary: string): JudgeActivities {
  return proxyActivities<JudgeActivities>({
    taskQueue: siblingQueue(workflowInfo().taskQueue, 'judge'),
    startToCloseTimeout: '75 s',
    heartbeatTimeout: '15 s',
    scheduleToCloseTimeout: '10 min',
    retry: { initialInterval: '1 s', backoffCoefficient: 2, maximumInterval: '30 s', maximumAttempts: 4 },
    summary,
  });
}

export function judgeFailure(summary: string): JudgeActivities {
  return proxyActivities<JudgeActivities>({
    taskQueue: siblingQueue(workflowInfo().taskQueue, 'judge'),
    startToCloseTimeout: '30 s',
    scheduleToCloseTimeout: '60 s',
    retry: steady,
    summary,
  });
}

/** A target that is down at the dry run is waited for, an hour at most. */
export function staging(summary: string): CommitActivities {
  return committing(summary, '1 h');
}

/** Bounded by the plan's commit window: later the answers are no longer good. */
export function committing(summary: string, within: number | '1 h'): CommitActivities {
  return proxyActivities<CommitActivities>({
    taskQueue: siblingQueue(workflowInfo().taskQueue, 'commit'),
    startToCloseTimeout: '5 min',
    heartbeatTimeout: '30 s',
    scheduleToCloseTimeout: within,
    retry: steady,
    summary,
  });
}

/** Rolling back and solving an unknown effect need the committer, however long it is away. */
export function settling(summary: string): CommitActivities {
  return proxyActivities<CommitActivities>({
    taskQueue: siblingQueue(workflowInfo().taskQueue, 'commit'),
    startToCloseTimeout: '60 s',
    scheduleToCloseTimeout: '30 days',
    retry: { ...steady, maximumInterval: '60 s' },
    summary,
  });
}
