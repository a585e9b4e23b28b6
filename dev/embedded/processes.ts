import { execFileSync, type ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Prints one line of progress for people. */
export type Say = (line: string) => void;

/**
 * The command line of a process, its arguments joined by spaces; undefined if no such process runs.
 * A zombie counts as gone.
 */
function commandLine(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (process.platform === 'linux') {
    try {
      const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return text === '' ? undefined : text;
    } catch {
      return undefined; // No /proc entry: no process.
    }
  }
  return ps(pid, 'command=');
}

/** The start time of a process as text, which distinguishes processes with the same pid; undefined if it does not run. */
export function startTime(pid: number): string | undefined {
  if (process.platform !== 'linux') return ps(pid, 'lstart=');
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the name in brackets, which may contain anything; fields are counted from the last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined; // No /proc entry: no process.
  }
}

function ps(pid: number, column: string): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8', timeout: 5_000 }).trim();
    return text === '' ? undefined : text;
  } catch {
    return undefined; // ps exits 1 when there is no such process.
  }
}

/** Whether a process runs whose command line contains `marker`, such as a path: its pid may have been reused. */
export function isRunning(pid: number, marker: string): boolean {
  return commandLine(pid)?.includes(marker) ?? false;
}

/** The pids of all processes whose command line contains every marker; empty if processes cannot be listed. */
export function processesWith(markers: readonly string[]): number[] {
  if (process.platform === 'win32') return [];
  const lines =
    process.platform === 'linux'
      ? readdirSync('/proc')
          .filter((name) => /^\d+$/.test(name))
          .map((name) => `${name} ${commandLine(Number(name)) ?? ''}`)
      : execFileSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8', timeout: 5_000 }).split('\n');
  return lines
    .filter((line) => markers.every((marker) => line.includes(marker)))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => pid !== process.pid);
}

/**
 * Stops a process: sends each signal, waits up to `eachMs` after it, and then sends SIGKILL. Returns whether it has exited.
 * Never signals a process whose command line does not contain `marker`.
 */
export async function stopProcess(
  pid: number,
  marker: string,
  signals: readonly NodeJS.Signals[],
  eachMs = 10_000,
): Promise<boolean> {
  for (const signal of [...signals, 'SIGKILL' as const]) {
    if (!isRunning(pid, marker)) return true;
    signalQuietly(pid, signal);
    const until = Date.now() + eachMs;
    while (Date.now() < until) {
      if (!isRunning(pid, marker)) return true;
      await sleep(25);
    }
  }
  return !isRunning(pid, marker);
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ESRCH: it has exited.
  }
}

const guarded = new Map<ChildProcess, NodeJS.Signals>();
let hooked = false;

/**
 * Signals a child when this process exits in any way that runs exit handlers (all but SIGKILL). The next start finds
 * processes that SIGKILL left, by pid and command line.
 */
export function stopOnExit(child: ChildProcess, signal: NodeJS.Signals): void {
  guarded.set(child, signal);
  child.once('exit', () => guarded.delete(child));
  if (hooked) return;
  hooked = true;
  process.on('exit', () => {
    for (const [each, how] of guarded) each.kill(how);
  });
}

/** Waits for a child to exit; resolves with its exit code, or null if a signal ended it. */
export function exited(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
}

/** As `exited`, in words. */
export function ending(child: ChildProcess): Promise<string> {
  return exited(child).then(
    (code) => `it ended with code ${code}`,
    (error: Error) => error.message,
  );
}

const MAX_OUTPUT = 4_000;
const PROGRESS_MS = 10_000;

/** Waits for a child, at most `maxMs`; then it is killed. Returns its exit code and the end of what it printed. */
export async function outputOf(
  child: ChildProcess,
  maxMs: number,
): Promise<{ readonly code: number | null; readonly output: string }> {
  stopOnExit(child, 'SIGTERM');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-MAX_OUTPUT)));
  const timer = setTimeout(() => child.kill('SIGKILL'), maxMs);
  const code = await exited(child).finally(() => clearTimeout(timer));
  return { code, output: output.trim() };
}

/** Prints "label: still working, N s" while `work` runs, so that a long step does not look like a hang. Settles as `work` does. */
export async function withProgress<T>(say: Say, label: string, work: Promise<T>): Promise<T> {
  const began = Date.now();
  const timer = setInterval(
    () => say(`${label}: still working, ${Math.round((Date.now() - began) / 1000)} s`),
    PROGRESS_MS,
  );
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}
