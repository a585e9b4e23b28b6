/** Works on the items in their order, at most `atOnce` at a time. Rejects with the first failure, after the work on all items has ended. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < items.length) {
      try {
        await work(items[next++] as T);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  if (failures.length > 0) throw failures[0];
}
