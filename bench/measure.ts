import { cpus } from 'node:os';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Client } from '@temporalio/client';
import { inParallel } from '../workers/in-parallel';

export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Percentiles of milliseconds, rounded to a tenth. */
export function spread(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (q: number): number =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0) * 10) / 10;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

export function machine(): string {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown CPU'}, Node ${process.version}, ${process.platform}`;
}

/**
 * Number of events in the history of a workflow when it has ended, its bytes, and the actions that Temporal Cloud would bill: start,
 * activities, timers, updates, signals and search attribute upserts.
 */
export async function historyFigures(
  temporal: Client,
  workflowId: string,
): Promise<{ readonly events: number; readonly historyBytes: number; readonly actions: number }> {
  const handle = temporal.workflow.getHandle(workflowId);
  // A client learns of the end of a review before its workflow ends.
  await handle.result();
  const [{ events }, { historySize }] = await Promise.all([handle.fetchHistory(), handle.describe()]);
  const billed = (events ?? []).filter((event) =>
    [
      event.workflowExecutionStartedEventAttributes,
      event.activityTaskScheduledEventAttributes,
      event.timerStartedEventAttributes,
      event.workflowExecutionUpdateAcceptedEventAttributes,
      event.workflowExecutionSignaledEventAttributes,
      event.upsertWorkflowSearchAttributesEventAttributes,
    ].some((attributes) => attributes != null),
  );
  return { events: (events ?? []).length, historyBytes: historySize ?? 0, actions: billed.length };
}

/** Runs `total` jobs, `open` at a time; resolves with jobs per second. */
export async function throughput(total: number, open: number, job: (i: number) => Promise<void>): Promise<number> {
  const began = performance.now();
  await inParallel([...Array(total).keys()], open, job);
  return total / ((performance.now() - began) / 1000);
}

/** The result of `work`, its milliseconds, and the longest delay of this thread's event loop meanwhile. */
export async function withStall<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly ms: number; readonly stallMs: number }> {
  const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  // The monitor needs a first tick before it can see a stall, and records the last one only after one more turn.
  await turn();
  delay.reset();
  const began = performance.now();
  const result = await work();
  const ms = Math.round(performance.now() - began);
  await turn();
  delay.disable();
  return { result, ms, stallMs: Math.round(delay.max / 1e6) };
}
