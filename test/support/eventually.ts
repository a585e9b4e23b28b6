/**
 * Waits until `condition` is true. The bound is far beyond what a busy machine needs: it ends a test that would wait
 * forever, and decides nothing else.
 */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  { everyMs = 5, withinMs = 60_000 }: { readonly everyMs?: number; readonly withinMs?: number } = {},
): Promise<void> {
  for (const end = performance.now() + withinMs; !(await condition());) {
    if (performance.now() > end) throw new Error(`Not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
