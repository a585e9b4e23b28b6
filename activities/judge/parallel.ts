/**
 * Runs `count` tasks with at most `atOnce` concurrently and returns the results in order. If a task fails, aborts the
 * signal of the others, waits for all of them and throws the first failure, so that no task outlives the call.
 */
export async function parallel<T>(
  count: number,
  atOnce: number,
  outer: AbortSignal,
  task: (index: number, signal: AbortSignal) => Promise<T>,
): Promise<T[]> {
  const stop = new AbortController();
  const cancel = (): void => stop.abort(outer.reason);
  if (outer.aborted) cancel();
  // Not `AbortSignal.any`: its listeners stay in memory until a full garbage collection.
  outer.addEventListener('abort', cancel, { once: true });
  const results = new Map<number, T>();
  const failures: unknown[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count && failures.length === 0) {
      const index = next++;
      try {
        results.set(index, await task(index, stop.signal));
      } catch (error) {
        failures.push(error);
        stop.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
  outer.removeEventListener('abort', cancel);
  if (failures.length > 0) throw failures[0];
  return Array.from({ length: count }, (_, i) => results.get(i) as T);
}
