import { readFileSync } from 'node:fs';

/** Resident memory of a process in MiB, now and at its highest. Null where /proc does not exist (proc_pid_status(5)). */
export interface Memory {
  readonly now: number;
  readonly peak: number;
}

export function memoryByProcess(pids: Readonly<Record<string, number>>): Readonly<Record<string, Memory>> {
  if (process.platform !== 'linux') return {};
  return Object.fromEntries(
    Object.entries({ client: process.pid, ...pids }).map(([name, pid]) => [name, memoryOf(pid)]),
  );
}

function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (label: string): number => {
    const kib = status.split('\n').find((line) => line.startsWith(`${label}:`));
    return Math.round(Number(/\d+/.exec(kib ?? '')?.[0] ?? 0) / 1024);
  };
  return { now: mib('VmRSS'), peak: mib('VmHWM') };
}
