import { setTimeout as sleep } from 'node:timers/promises';

/** Longer than a review takes on an overloaded machine. */
const WITHIN_MS = 300_000;

/** Polls until `ask` resolves with a value, as an approver's client does: immediately, then every 250 ms. Throws after `withinMs`. */
export async function poll<T>(ask: () => Promise<T | null>, withinMs = WITHIN_MS): Promise<T> {
  for (const until = performance.now() + withinMs; performance.now() < until; await sleep(250)) {
    const found = await ask();
    if (found !== null) return found;
  }
  throw new Error(`Still waiting after ${withinMs / 1000} s`);
}
