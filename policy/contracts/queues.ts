/** Workflow type and task queues. Does not import Temporal, so the gateway client can load it. */
export const REVIEW_WORKFLOW = 'review';

export const TASK_QUEUES = {
  review: 'countersign-review',
  judge: 'countersign-judge',
  commit: 'countersign-commit',
} as const;

/** The worker processes, each with its own queue. */
export const WORKER_ROLES = ['review', 'judge', 'commit'] as const satisfies readonly (keyof typeof TASK_QUEUES)[];
export type WorkerRole = (typeof WORKER_ROLES)[number];

/** A queue of review workers, with any suffix. */
export function isReviewQueue(name: string): boolean {
  return name === TASK_QUEUES.review || name.startsWith(`${TASK_QUEUES.review}-`);
}

/**
 * The judge's or committer's queue that belongs to a review queue: `countersign-review-acme` → `countersign-commit-acme`.
 * The task queue of the start therefore selects a separate family of queues, for example for a tenant or a test. Throws
 * TypeError if the name is not a review queue.
 */
export function siblingQueue(reviewQueue: string, sibling: 'judge' | 'commit'): string {
  if (!reviewQueue.startsWith(TASK_QUEUES.review))
    throw new TypeError(`Task queue "${reviewQueue}": expected a name that begins with "${TASK_QUEUES.review}"`);
  return TASK_QUEUES[sibling] + reviewQueue.slice(TASK_QUEUES.review.length);
}
