/** Workflow type and task queues. No Temporal import: client, workers and tests share it. */
export const REVIEW_WORKFLOW = 'review';

export const TASK_QUEUES = {
  review: 'countersign-review',
  judge: 'countersign-judge',
  commit: 'countersign-commit',
} as const;

/**
 * The judge's or committer's queue beside a review queue: `countersign-review-acme` → `countersign-commit-acme`.
 * So a tenant, or a test, gets a family of queues of its own by the start's task queue alone. Throws where the name is no
 * review queue.
 */
export function siblingQueue(reviewQueue: string, sibling: 'judge' | 'commit'): string {
  if (!reviewQueue.startsWith(TASK_QUEUES.review))
    throw new TypeError(`Task queue "${reviewQueue}": expected a name that begins with "${TASK_QUEUES.review}"`);
  return TASK_QUEUES[sibling] + reviewQueue.slice(TASK_QUEUES.review.length);
}
