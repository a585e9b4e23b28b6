import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { z } from 'zod';
import { probeFile } from './probe-file';
import { serverProcesses } from './process-cpu';
import { statusOf } from './process-memory';
import type { Sample } from './soak-verdict';

const PROBE_MS = 60_000;
const Reading = z.object({ heapBytes: z.number(), threadsHeapBytes: z.number(), handles: z.number() });
const MIB = 1024 * 1024;

/** Arguments of node for a process that `readProcess` reads. */
export const PROBED = ['--expose-gc', '--require', join(__dirname, 'memory-probe.js')];

/** Garbage is collected first. Throws if the process does not answer. */
export async function readProcess(pid: number, connections: number): Promise<Sample['values']> {
  const file = probeFile(pid);
  rmSync(file, { force: true });
  process.kill(pid, 'SIGWINCH');
  for (const until = Date.now() + PROBE_MS; !existsSync(file); await sleep(20))
    if (Date.now() > until) throw new Error(`Process ${pid} did not report its memory in ${PROBE_MS / 1000} s`);
  const { heapBytes, threadsHeapBytes, handles } = Reading.parse(JSON.parse(readFileSync(file, 'utf8')));
  rmSync(file, { force: true });
  const status = statusOf(pid);
  return {
    heapMiB: heapBytes / MIB,
    threadsHeapMiB: threadsHeapBytes / MIB,
    handles,
    residentMiB: (status.get('VmRSS') ?? Number.NaN) / 1024,
    threads: status.get('Threads') ?? Number.NaN,
    files: readdirSync(`/proc/${pid}/fd`).length,
    connections,
  };
}

/**
 * Memory of the PostgreSQL and Temporal servers below this process, without files and shared memory: of PostgreSQL's shared memory, each
 * session counts what it has used.
 */
export function readServers(): Readonly<Record<string, Sample['values']>> {
  const total: Record<string, number> = {};
  for (const [pid, name] of serverProcesses()) total[name] = (total[name] ?? 0) + anonymousMiB(pid);
  return Object.fromEntries(Object.entries(total).map(([name, mib]) => [name, { anonymousMiB: mib }]));
}

/** 0 for a process that has ended since it was listed. */
function anonymousMiB(pid: number): number {
  try {
    return (statusOf(pid).get('RssAnon') ?? 0) / 1024;
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return 0;
    throw error;
  }
}

/** Connections to PostgreSQL by application name. */
export async function connectionsByApplication(admin: Pool): Promise<ReadonlyMap<string, number>> {
  const { rows } = await admin.query<{ name: string; count: number }>(
    `select application_name as name, count(*)::int as count from pg_stat_activity where application_name <> '' group by 1`,
  );
  return new Map(rows.map(({ name, count }) => [name, count]));
}
