import { setTimeout as pause } from 'node:timers/promises';

/** Calls again while it throws an error that `passes`, by default any, and returns its result. After the bound it throws the last error. */
export async function retried<T>(
  call: () => Promise<T>,
  passes: (error: unknown) => boolean = () => true,
  { everyMs = 250, withinMs = 120_000 }: { readonly everyMs?: number; readonly withinMs?: number } = {},
): Promise<T> {
  for (const end = performance.now() + withinMs; ; await pause(everyMs)) {
    try {
      return await call();
    } catch (error) {
      if (!passes(error) || performance.now() > end) throw error;
    }
  }
}
