import type { DevClient } from '../dev/client';
import type { Dev } from '../dev/start';
import { spread, throughput, type Spread } from './measure';
import { reviewJob, ROWS } from './reviews';

/** Milliseconds from submission to the verified commit. */
export interface Fairness {
  /** Reviews of a tenant that submits one at a time. */
  readonly alone: Spread;
  /** The same while another tenant keeps `flood` reviews open on the same target. */
  readonly besideFlood: Spread;
  readonly flooding: Spread;
  readonly flood: number;
}

/** A tenant that submits one review at a time, first alone, then while another one floods the same target and workers. */
export async function measureFairness(
  dev: Dev,
  clients: { readonly steady: DevClient; readonly flooding: DevClient },
  { reviews, flood }: { readonly reviews: number; readonly flood: number },
): Promise<Fairness> {
  const alone = reviewJob(dev, clients.steady, 1_000_000);
  await throughput(reviews, 1, async (i) => void (await alone.run(i)));
  const beside = reviewJob(dev, clients.steady, 2_000_000);
  // Half of the rows away, so that no change makes another one stale.
  const flooding = reviewJob(dev, clients.flooding, 3_000_000 + ROWS / 2);
  let isOver = false;
  let next = 0;
  const floods = Array.from({ length: flood }, async () => {
    while (!isOver) await flooding.run(next++);
  });
  const steady = (async () => {
    // Until the flood has filled the queues.
    while (flooding.times.preflight.length < flood / 2) await new Promise((resolve) => setTimeout(resolve, 100));
    await throughput(reviews, 1, async (i) => void (await beside.run(i)));
  })().finally(() => (isOver = true));
  await Promise.all([steady, ...floods]);
  return {
    alone: spread(alone.times.all),
    besideFlood: spread(beside.times.all),
    flooding: spread(flooding.times.all),
    flood,
  };
}
