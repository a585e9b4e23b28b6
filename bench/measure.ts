import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Client } from '@temporalio/client';

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

/** Total user and system CPU seconds of the processes so far; 0 for a process whose time cannot be read (only Linux). */
export function cpuSeconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return sum + (Number(fields[11]) + Number(fields[12])) / 100;
    } catch {
      return sum; // Not Linux, or the process has exited: it adds nothing to the sum.
    }
  }, 0);
}

export function machine(): string {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown CPU'}, Node ${process.version}, ${process.platform}`;
}

/**
 * Number of events in a history, and the actions that Temporal Cloud would bill: start, activities, timers, updates, signals
 * and search attribute upserts.
 */
export async function historyFigures(
  temporal: Client,
  workflowId: string,
): Promise<{ readonly events: number; readonly actions: number }> {
  const { events = [] } = await temporal.workflow.getHandle(workflowId).fetchHistory();
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
  return { events: (events ?? []).length, actions: billed.length };
}

/** Runs `total` jobs, `open` at a time; resolves with jobs per second. */
export async function throughput(total: number, open: number, job: (i: number) => Promise<void>): Promise<number> {
  let next = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: open }, async () => {
      while (next < total) await job(next++);
    }),
  );
  return total / ((performance.now() - began) / 1000);
}
