import { Context } from '@temporalio/activity';

const HEARTBEAT_MS = 4_000;

/**
 * Runs `work` under a heartbeat that starts before it: connecting can be slow. `signal` aborts when the activity is
 * cancelled, timed out or its worker shuts down; only then may another attempt run.
 */
export async function withHeartbeat<T>(work: (signal: AbortSignal, beat: () => void) => Promise<T>): Promise<T> {
  const context = Context.current();
  const beat = (): void => context.heartbeat();
  beat();
  const timer = setInterval(beat, HEARTBEAT_MS);
  try {
    return await work(context.cancellationSignal, beat);
  } finally {
    clearInterval(timer);
  }
}
