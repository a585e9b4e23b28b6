import type { ReviewState } from '../../policy/contracts/outcome';
import { isReviewQueue } from '../../policy/contracts/queues';
import { maxWakeDelayMs } from '../../policy/decide/wake-delay';
import type { Observation } from './observe';

/** An open review, by its projection. Times in milliseconds since 1970. */
export interface OpenReview {
  readonly changeId: string;
  readonly state: ReviewState;
  readonly openedAt: number;
  readonly updatedAt: number;
  readonly deadlineAt: number | null;
  /** The ledger has all answers that were asked for, or the change is withdrawn or superseded. */
  readonly answered: boolean;
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
  /** `stuck`: it runs, and a reset can help. `behind`: it must read its answers again. `lost`: it does not run. Else it must end. */
  readonly nature: 'stuck' | 'behind' | 'lost' | 'wrong';
  /** Milliseconds since the review should have ended, regardless of its workflow; negative before. */
  readonly overdueBy: number;
  /** The queue of the workflow; null if it does not run. */
  readonly taskQueue: string | null;
}

/** After this many attempts of one workflow task it counts as failing. A worker that crashed once causes two. */
const MIN_ATTEMPTS = 3;
const DAY_MS = 24 * 60 * 60_000;
/**
 * How long a review may be in a state without a deadline: opening and dry run; all answers are recorded; commit window; unknown
 * effect (30 days).
 */
const MAX_DAYS: Partial<Record<ReviewState, number>> = {
  RUNNING: 2,
  INTERVENTION_REQUIRED: 31,
  COMMITTING: 31,
  EFFECT_UNKNOWN: 32,
};
/** A workflow usually goes on within a second after the last answer. */
const USUAL_MS = 10_000;

/**
 * Why this workflow cannot end this review, or null if it can. A review that waits for people or for a worker has no problem.
 * `overdueMs`: how long a review may be open after its deadline and the longest delay of its workflow's timer.
 */
export function problemOf(review: OpenReview, seen: Observation, now: number, overdueMs: number): Problem | null {
  const found = kindOf(review, seen, now, overdueMs);
  return found === null ? null : { ...found, overdueBy: now - latestEnd(review) - overdueMs };
}

function kindOf(review: OpenReview, seen: Observation, now: number, overdueMs: number): Problem | null {
  if (seen.state === 'missing') return problem('missing', 'The workflow does not exist', seen, 'lost');
  const { type } = seen;
  if (seen.state === 'closed')
    return problem(
      seen.how,
      `The workflow (type ${short(type)}) is ${seen.how} without an end in the ledger`,
      seen,
      'lost',
    );
  if (type !== 'review') return problem('other_type', `A workflow of type ${short(type)} has its id`, seen);
  if (!isReviewQueue(seen.taskQueue))
    return problem('other_queue', `The workflow runs on the queue ${short(seen.taskQueue)}`, seen);
  if (now > latestEnd(review) + overdueMs)
    return problem('overdue', `The workflow has not ended since ${new Date(latestEnd(review)).toISOString()}`, seen);
  if (seen.refusedEnd !== null)
    return problem('refused_end', `The workflow asks for an end that was refused: ${seen.refusedEnd}`, seen);
  return failingTask(seen) ?? behindLedger(review, seen, now);
}

/** When the workflow of a review ends it at the latest, if it can. Infinite for a state that ends the review. */
function latestEnd({ state, openedAt, updatedAt, deadlineAt }: OpenReview): number {
  if (deadlineAt !== null) return deadlineAt + maxWakeDelayMs(openedAt, deadlineAt);
  return updatedAt + (MAX_DAYS[state] ?? Infinity) * DAY_MS;
}

/** Its answers are recorded, and yet it waits: the result of their admission was lost. */
function behindLedger({ state, answered, updatedAt }: OpenReview, seen: Running, now: number): Problem | null {
  if (state !== 'INTERVENTION_REQUIRED' || !answered || seen.ending || now < updatedAt + USUAL_MS) return null;
  const what = 'The ledger has all answers that the workflow waits for, or the change is withdrawn or superseded';
  return problem('behind', what, seen, 'behind');
}

/** Why the workflow of a review that has ended does not end, or null if it has ended or may still. */
export function problemAfterEnd(seen: Observation): Problem | null {
  return seen.state === 'running' ? failingTask(seen) : null;
}

function failingTask(seen: Running): Problem | null {
  if (seen.attempts < MIN_ATTEMPTS) return null;
  const reported = seen.problems === null ? '' : `: ${seen.problems}`;
  const what = `The workflow has failed its task ${seen.attempts} times${reported}`;
  // The number of events is in the key: a run that goes on is not stuck.
  return { ...problem('task_fails', what, seen, 'stuck'), key: `task_fails ${seen.runId} ${seen.events}` };
}

function problem(kind: string, what: string, seen: Observation, nature: Problem['nature'] = 'wrong'): Problem {
  const runId = seen.state === 'missing' ? null : seen.runId;
  const workflowType = seen.state === 'missing' ? null : short(seen.type);
  const taskQueue = seen.state === 'running' ? seen.taskQueue : null;
  return { kind, what, runId, workflowType, taskQueue, key: `${kind} ${runId ?? ''}`, nature, overdueBy: -Infinity };
}

/** Names are the attacker's choice. */
function short(name: string): string {
  return JSON.stringify(name.slice(0, 60));
}
