import type { ReviewState } from '../../policy/contracts/outcome';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import { maxWakeDelayMs } from '../../policy/decide/wake-delay';
import type { Observation } from './observe';

/** An open review, by its projection. Times in milliseconds since 1970. */
export interface OpenReview {
  readonly changeId: string;
  readonly state: ReviewState;
  readonly openedAt: number;
  readonly updatedAt: number;
  readonly deadlineAt: number | null;
}

type Running = Extract<Observation, { readonly state: 'running' }>;

export interface Problem {
  readonly kind: string;
  /** For people; a sentence without its full stop. */
  readonly what: string;
  readonly runId: string | null;
  readonly workflowType: string | null;
  /** Two sightings of the same problem have the same key. */
  readonly key: string;
  /** True if the workflow runs, and a reset can help. */
  readonly stuck: boolean;
}

/** After this many attempts of one workflow task it counts as failing. A worker that crashed once causes two. */
const MIN_ATTEMPTS = 3;
const DAY_MS = 24 * 60 * 60_000;
/** How long a review may be in a state without a deadline: opening and dry run; commit window; unknown effect (30 days). */
const MAX_DAYS: Partial<Record<ReviewState, number>> = { RUNNING: 2, COMMITTING: 31, EFFECT_UNKNOWN: 32 };

/**
 * Why this workflow cannot end this review, or null if it can. A review that waits for people or for a worker has no problem.
 * `overdueMs`: how long a review may be open after its deadline and the longest delay of its workflow's timer.
 */
export function problemOf(review: OpenReview, seen: Observation, now: number, overdueMs: number): Problem | null {
  if (seen.state === 'missing') return problem('missing', 'The workflow does not exist', null, seen);
  const { type, runId } = seen;
  if (seen.state === 'closed')
    return problem(
      seen.how,
      `The workflow (type ${short(type)}) is ${seen.how} without an end in the ledger`,
      runId,
      seen,
    );
  if (type !== 'review') return problem('other_type', `A workflow of type ${short(type)} has its id`, runId, seen);
  if (!isOurs(seen.taskQueue))
    return problem('other_queue', `The workflow runs on the queue ${short(seen.taskQueue)}`, runId, seen);
  const days = MAX_DAYS[review.state];
  const limit = review.deadlineAt ?? (days === undefined ? null : review.updatedAt + days * DAY_MS);
  const wakeDelay = review.deadlineAt === null ? 0 : maxWakeDelayMs(review.openedAt, review.deadlineAt);
  if (limit !== null && now > limit + wakeDelay + overdueMs)
    return problem('overdue', `The workflow has not ended since ${new Date(limit).toISOString()}`, runId, seen);
  if (seen.refusedEnd !== null)
    return problem('refused_end', `The workflow asks for an end that was refused: ${seen.refusedEnd}`, runId, seen);
  return failingTask(seen);
}

/** Why the workflow of a review that has ended does not end, or null if it has ended or may still. */
export function problemAfterEnd(seen: Observation): Problem | null {
  return seen.state === 'running' ? failingTask(seen) : null;
}

function failingTask(seen: Running): Problem | null {
  if (seen.attempts < MIN_ATTEMPTS) return null;
  const { runId } = seen;
  const reported = seen.problems === null ? '' : `: ${seen.problems}`;
  const what = `The workflow has failed its task ${seen.attempts} times${reported}`;
  // The number of events is in the key: a run that goes on is not stuck.
  return { ...problem('task_fails', what, runId, seen), key: `task_fails ${runId} ${seen.events}`, stuck: true };
}

function problem(kind: string, what: string, runId: string | null, seen: Observation): Problem {
  const workflowType = seen.state === 'missing' ? null : short(seen.type);
  return { kind, what, runId, workflowType, key: `${kind} ${runId ?? ''}`, stuck: false };
}

/** A queue of ours with any suffix: committers of several queues can share a database. */
function isOurs(taskQueue: string): boolean {
  return taskQueue === TASK_QUEUES.review || taskQueue.startsWith(`${TASK_QUEUES.review}-`);
}

/** Names are the attacker's choice. */
function short(name: string): string {
  return JSON.stringify(name.slice(0, 60));
}
