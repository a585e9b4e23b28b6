import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';

/**
 * Waits until `settled` or until the time is over; true if the time is over. One named timer instead of a timed `condition`, so
 * that it carries a summary in the history.
 */
export async function waitOrTimeout(ms: number, summary: string, settled: () => boolean): Promise<boolean> {
  let fired = false;
  const scope = new CancellationScope();
  const timer = scope.run(async () => {
    try {
      await sleep(ms, { summary });
      fired = true;
    } catch (error) {
      if (!isCancellation(error)) throw error;
    }
  });
  await condition(() => fired || settled());
  if (!fired) scope.cancel();
  await timer;
  return fired;
}
