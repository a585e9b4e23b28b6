import type { Client } from '@temporalio/client';
import { historyFigures, spread, throughput, type Spread } from './measure';
import { cpuByProcess, cpuPerReview, type CpuByProcess } from './process-cpu';

export interface Figures {
  readonly perSecond: number;
  readonly submitToPreflightMs: Spread;
  readonly lastAnswerToCommittedMs: Spread;
  readonly events: number;
  readonly historyBytes: number;
  readonly actions: number;
  /** CPU of each process for one review, with several open. Empty if it cannot be read. */
  readonly cpuMsByProcess: CpuByProcess;
}

export interface Measured {
  readonly temporal: Client;
  readonly job: (i: number) => Promise<void>;
  /** Times of the jobs, which each job adds to. */
  readonly times: { readonly preflight: number[]; readonly commit: number[] };
  /** Workflow id of a job that has ended. */
  readonly last: () => string;
  /** Processes that are not servers, by name. */
  readonly pids: Readonly<Record<string, number>>;
}

/** Measures throughput and CPU with `open` jobs at a time, then latencies one at a time. */
export async function figures(
  { temporal, job, times, last, pids }: Measured,
  { total, open }: { readonly total: number; readonly open: number },
): Promise<Figures> {
  const warm = Math.min(30, total);
  await throughput(warm, open, job);
  const before = cpuByProcess(pids);
  const perSecond = await throughput(total, open, (i) => job(warm + i));
  const cpuMsByProcess = cpuPerReview(before, cpuByProcess(pids), total);
  times.preflight.length = 0;
  times.commit.length = 0;
  await throughput(Math.min(50, total), 1, (i) => job(warm + total + i));
  return {
    perSecond: Math.round(perSecond * 10) / 10,
    submitToPreflightMs: spread(times.preflight),
    lastAnswerToCommittedMs: spread(times.commit),
    ...(await historyFigures(temporal, last())),
    cpuMsByProcess,
  };
}
