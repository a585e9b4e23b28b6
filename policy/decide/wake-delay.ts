/** Wake-ups are spread over one hundredth of the time that people have, and over at most ten minutes. */
const SHARE = 100;
const MAX_MS = 10 * 60_000;

/** The longest time after its deadline at which a review that waited from `since` wakes up. In milliseconds; times since the epoch. */
export function maxWakeDelayMs(since: number, deadline: number): number {
  return Math.min(Math.max(0, deadline - since) / SHARE, MAX_MS);
}

/**
 * How long after its deadline this review wakes up. Reviews that were opened together have the same deadline, and their timers would
 * all fire in the same second. The deadline itself does not move: a confirmation counts only if the clock of the database was before it.
 */
export function wakeDelayMs(changeId: string, since: number, deadline: number): number {
  const place = /^[0-9a-f]{8}/.test(changeId) ? Number.parseInt(changeId.slice(0, 8), 16) / 2 ** 32 : 0;
  return Math.floor(place * maxWakeDelayMs(since, deadline));
}
