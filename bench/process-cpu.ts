import { readdirSync, readFileSync } from 'node:fs';

/** CPU milliseconds by process name. */
export type CpuByProcess = Readonly<Record<string, number>>;

const CLIENT = 'client';

interface ProcessStat {
  readonly parent: number;
  readonly command: string;
  /** User and system time, with that of children that have ended: PostgreSQL ends a session's process with the session. */
  readonly ms: number;
}

/**
 * Total CPU time of this process (`client`), of the processes that `named` lists, and of the PostgreSQL and Temporal servers below this
 * process, each with its descendants. Only Linux has the figures (proc_pid_stat(5)); elsewhere the result is empty.
 */
export function cpuByProcess(named: Readonly<Record<string, number>>): CpuByProcess {
  const stats = readStats();
  const names = new Map(Object.entries(named).map(([name, pid]) => [pid, name]));
  const total: Record<string, number> = {};
  for (const [pid, { ms }] of stats) {
    const name = nameOf(pid, stats, names);
    if (name !== null) total[name] = (total[name] ?? 0) + ms;
  }
  return total;
}

/** The PostgreSQL and Temporal servers below this process with their descendants: names by process id. Empty if not on Linux. */
export function serverProcesses(): ReadonlyMap<number, string> {
  const stats = readStats();
  const servers = new Map<number, string>();
  for (const pid of stats.keys()) {
    const name = nameOf(pid, stats, new Map());
    if (name !== null && name !== CLIENT) servers.set(pid, name);
  }
  return servers;
}

/** The nearest named ancestor, `client` for what belongs to this process only, or null for a process that does not belong to this one. */
function nameOf(
  pid: number,
  stats: ReadonlyMap<number, ProcessStat>,
  names: ReadonlyMap<number, string>,
): string | null {
  for (let at = pid; ;) {
    const stat = stats.get(at);
    if (stat === undefined) return null;
    if (at === process.pid) return CLIENT;
    const name = names.get(at) ?? serverNameOf(stat.command);
    if (name !== undefined && isBelowThis(at, stats)) return name;
    at = stat.parent;
  }
}

function serverNameOf(command: string): string | undefined {
  if (command === 'postgres') return 'postgresql';
  // The binary has its version in its name.
  return command.startsWith('temporal') ? 'temporal' : undefined;
}

function isBelowThis(pid: number, stats: ReadonlyMap<number, ProcessStat>): boolean {
  for (let at: number | undefined = pid; at !== undefined; at = stats.get(at)?.parent)
    if (at === process.pid) return true;
  return false;
}

function readStats(): ReadonlyMap<number, ProcessStat> {
  if (process.platform !== 'linux') return new Map();
  const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  return new Map(
    pids.flatMap((pid) => {
      const stat = readStat(pid);
      return stat === null ? [] : [[Number(pid), stat] as const];
    }),
  );
}

/** Null for a process that has ended since it was listed. */
function readStat(pid: string): ProcessStat | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
  // The command is in parentheses and may contain any character.
  const close = text.lastIndexOf(')');
  const fields = text.slice(close + 2).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i]), 0);
  return { parent: Number(fields[1]), command: text.slice(text.indexOf('(') + 1, close), ms: ticks * 10 };
}

/** The difference of two readings for each of `count` reviews, in whole milliseconds, with the sum as `all`. */
export function cpuPerReview(before: CpuByProcess, after: CpuByProcess, count: number): CpuByProcess {
  const each = Object.entries(after).map(
    ([name, ms]) => [name, Math.round((ms - (before[name] ?? 0)) / count)] as const,
  );
  const spent = each.filter(([, ms]) => ms > 0).sort(([, a], [, b]) => b - a);
  return { ...Object.fromEntries(spent), all: spent.reduce((sum, [, ms]) => sum + ms, 0) };
}
