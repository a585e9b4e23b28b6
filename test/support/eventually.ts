/**
 * Waits until `condition` is true. The bound is far longer than a busy machine needs: it only ends a test that
 * would otherwise wait forever.
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
