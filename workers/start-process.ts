import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkerRole } from '../policy/contracts/queues';

/** A process of Countersign, by the name of its entry point in this folder. */
export type ProcessName = WorkerRole | 'gateway';

export interface RunningProcess {
  readonly name: ProcessName;
  readonly pid: number;
  /** SIGTERM, then SIGKILL after 15 s. Resolves when the process has exited. */
  stop(): Promise<void>;
  /** SIGKILL at once, for crash tests. */
  kill(): Promise<void>;
  /** Resolves when the process has exited, for any reason. */
  readonly ended: Promise<void>;
}

const READY_MS = 120_000;
const STOP_MS = 15_000;
const MAX_TAIL_BYTES = 4_000;

/**
 * Starts an entry point with only this environment and the system's variables; its log goes to `<logDir>/<name>.log`.
 * Resolves when the process reports that it is ready, and rejects with the end of its log otherwise. `script` replaces the
 * entry point of that name; `nodeArguments` come before it.
 */
export async function startProcess(
  name: ProcessName,
  env: Readonly<Record<string, string>>,
  logDir: string,
  say: (line: string) => void,
  script = join(__dirname, `${name}.js`),
  nodeArguments: readonly string[] = [],
): Promise<RunningProcess> {
  const logFile = join(logDir, `${name}.log`);
  const log = openSync(logFile, 'a');
  const { size: begin } = fstatSync(log);
  const base = Object.fromEntries(
    Object.entries(process.env).filter(
      (e): e is [string, string] =>
        e[1] !== undefined && /^(PATH|HOME|TMPDIR|LANG|NODE_OPTIONS|OTEL_.*|TEMPORAL_(TLS.*|API_KEY))$/.test(e[0]),
    ),
  );
  const child = spawn(process.execPath, [...nodeArguments, script], {
    env: { ...base, ...env },
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  await ready(child, name, () => `${endOf(logFile, begin)}\nThe whole log: ${logFile}`);
  child.once('exit', (code, signal) => {
    // Ctrl-C reaches the whole process group: a child may exit in order before it is stopped.
    if (!stopping.has(child) && code !== 0)
      say(
        `${name} (process ${child.pid ?? 0}) ended unexpectedly: ${signal ?? `exit code ${code}`}. Its log: ${logFile}`,
      );
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return { name, pid: child.pid ?? 0, stop: () => end(child, 'SIGTERM'), kill: () => end(child, 'SIGKILL'), ended };
}

const stopping = new WeakSet<ChildProcess>();

function ready(child: ChildProcess, name: string, tail: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail(`was not ready in ${READY_MS / 1000} s`), READY_MS);
    const fail = (why: string): void => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`${name} ${why}:\n${tail()}`));
    };
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => fail(`ended with exit code ${code}`));
    child.once('message', () => {
      clearTimeout(timer);
      child.removeAllListeners('exit');
      resolve();
    });
  });
}

/** The end of what was added to a log since it had this size. */
function endOf(logFile: string, begin: number): string {
  const log = openSync(logFile, 'r');
  try {
    const { size } = fstatSync(log);
    const from = Math.max(begin, size - MAX_TAIL_BYTES);
    const bytes = Buffer.alloc(Math.max(0, size - from));
    readSync(log, bytes, 0, bytes.length, from);
    return bytes.toString('utf8');
  } finally {
    closeSync(log);
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  stopping.add(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(timer);
}
