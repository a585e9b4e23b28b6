import { isCancellation, log } from '@temporalio/workflow';
import { reviewSteps } from './proxies';
import { publishStatus } from './reporting';
import type { Review } from './review-state';

/**
 * Adds what the ledger has and this run does not know, because the result of an admission was lost. If the ledger cannot be read for
 * 24 hours, the run goes on with what it knows; the committer decides by the rows.
 */
export async function readStatements(change: Review, summary: string): Promise<void> {
  try {
    const { answers, stopped } = await reviewSteps(change.localTurn, summary).readStatements({
      changeId: change.changeId,
    });
    change.admit(answers);
    change.stopped ??= stopped;
    if (change.isWaiting()) publishStatus(change);
  } catch (error) {
    if (isCancellation(error)) throw error;
    change.warn('The answers in the ledger could not be read again.');
    log.error('The statements of a review could not be read', { error: String(error) });
  }
}
