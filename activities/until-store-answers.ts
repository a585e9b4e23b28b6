import { asyncLocalStorage } from '@temporalio/activity';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseDown } from '../storage/database/database-down';

/** Less than the duration of an attempt, so that the last failure is reported and not a time-out. */
const MAX_WAIT_MS = 30_000;
const PAUSE_MS = 500;

/**
 * Repeats `work` while our own database does not answer. For activities with few attempts: a restart of the database would use them up
 * within two seconds, and the validators would be reported as failed. Rethrows the failure after `maxWaitMs`, and any other failure
 * at once. `work` must be idempotent. Throws CancelledFailure if the activity is cancelled meanwhile.
 */
export async function untilStoreAnswers<T>(work: () => Promise<T>, maxWaitMs = MAX_WAIT_MS): Promise<T> {
  const context = asyncLocalStorage.getStore();
  const end = performance.now() + maxWaitMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseDown(error) || performance.now() + PAUSE_MS > end) throw error;
      await (context === undefined ? sleep(PAUSE_MS) : context.sleep(PAUSE_MS));
    }
  }
}
