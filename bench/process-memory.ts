import { readFileSync } from 'node:fs';

/** Resident memory of a process in MiB, now and at its highest. Null where /proc does not exist (proc_pid_status(5)). */
interface Memory {
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
  const status = statusOf(pid);
  const mib = (label: string): number => Math.round((status.get(label) ?? 0) / 1024);
  return { now: mib('VmRSS'), peak: mib('VmHWM') };
}

/** The numbers of proc_pid_status(5) by name; memory in KiB. */
export function statusOf(pid: number): ReadonlyMap<string, number> {
  const lines = readFileSync(`/proc/${pid}/status`, 'utf8').matchAll(/^(\w+):\s+(\d+)/gm);
  return new Map([...lines].map(([, name = '', value]) => [name, Number(value)]));
}
