import { condition, isCancellation, sleep } from '@temporalio/workflow';

/**
 * Waits until `settled` or until the time is over. One named timer instead of a timed `condition`, so that it carries a summary in
 * the history.
 *
 * The timer is not cancelled if `settled` comes first. A query can be answered in the workflow task in which a local activity ends;
 * its result is then delivered in the next task, but a replay delivers it in the first one. If that starts and cancels a timer within
 * one task, the worker drops both commands and the history does not replay (docs/decisions/0035).
 */
export async function waitOrTimeout(ms: number, summary: string, settled: () => boolean): Promise<void> {
  let fired = false;
  void sleep(ms, { summary }).then(
    () => (fired = true),
    (error: unknown) => {
      // A cancelled workflow also ends the condition.
      if (!isCancellation(error)) throw error;
    },
  );
  await condition(() => fired || settled());
}
