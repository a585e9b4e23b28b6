import { setTimeout as pause } from 'node:timers/promises';

export { retried } from '../../workers/retried';

/** What a condition or a search has found. */
type Found<T> = [T] extends [boolean] ? void : Exclude<T, false | null | undefined>;

/** The longest pause that follows from a slow `look`. */
const LONGEST_MS = 250;

/**
 * Waits until `look` returns anything but false, null or undefined, and returns that. The bound is far longer than a busy machine
 * needs: it only ends a test that would otherwise wait forever. Between two looks it waits four times as long as the last one took, so
 * that looks which open a connection do not take the processor from what they wait for.
 */
export async function eventually<T>(
  what: string,
  look: () => T | Promise<T>,
  { everyMs = 5, withinMs = 60_000 }: { readonly everyMs?: number; readonly withinMs?: number } = {},
): Promise<Found<T>> {
  for (const end = performance.now() + withinMs; ;) {
    const began = performance.now();
    const found = await look();
    const took = performance.now() - began;
    if (found !== false && found !== null && found !== undefined) return found as Found<T>;
    if (performance.now() > end) throw new Error(`Not within ${withinMs} ms: ${what}`);
    await pause(Math.max(everyMs, Math.min(4 * took, LONGEST_MS)));
  }
}
