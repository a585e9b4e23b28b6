import type { Testbed } from './testbed';

/** Runs `work` while the rate limit of these queues is 0, so that no worker gets their activities. */
export async function throttled<T>(testbed: Testbed, queues: readonly string[], work: () => Promise<T>): Promise<T> {
  for (const queue of queues) await testbed.attacker.throttle(queue, true);
  try {
    return await work();
  } finally {
    for (const queue of queues) await testbed.attacker.throttle(queue, false);
  }
}
