import { asyncLocalStorage } from '@temporalio/activity';

const HEARTBEAT_MS = 4_000;
/** Outside an activity, in the reconciler. */
const MAX_MS = 60_000;

/**
 * Runs `work` with a heartbeat every HEARTBEAT_MS. Most activities end before the first one, and each is a write for the server.
 * `signal` aborts if the activity is cancelled or times out, or if its worker shuts down; only then can another attempt start.
 * Outside an activity it aborts after MAX_MS.
 */
export async function withHeartbeat<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = asyncLocalStorage.getStore();
  if (context === undefined) return work(AbortSignal.timeout(MAX_MS));
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(timer);
  }
}
