import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';

/** True when the timer fired first. A timer of its own rather than a timed condition: it is not started anew at each answer. */
export async function raceTimer(ms: number, summary: string, settled: () => boolean): Promise<boolean> {
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
