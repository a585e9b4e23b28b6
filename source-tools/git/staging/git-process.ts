/**
 * Runs git in isolation.
 *
 * P1 No hook, alias, filter, remote or credential helper runs. The configuration of the user and the system is not read, and
 *    the repository's configuration is overridden on the command line.
 * P2 Time and output of every run are bounded. A run is stopped with SIGTERM first, so that git removes its locks.
 */
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

/** Disables replacement refs, grafts and fetching of missing objects, so that git reads the objects as stored. */
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/false',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_GRAFT_FILE: '/dev/null',
  GIT_ALLOW_PROTOCOL: '',
  GIT_LITERAL_PATHSPECS: '1',
} as const;

const CONFIGURATION = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.excludesFile=/dev/null',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'core.fsync=all',
  'core.logAllRefUpdates=always',
  'apply.whitespace=nowarn',
  'apply.ignoreWhitespace=no',
  'protocol.allow=never',
  'gc.auto=0',
  'maintenance.auto=false',
].flatMap((setting) => ['-c', setting]);

/** Of standard output and of standard error, each. A patch can make git print a line about each hunk. */
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 5_000;

interface GitRun {
  readonly args: readonly string[];
  readonly gitDir: string;
  /** An empty directory, because git reads attribute files from its working directory. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array | string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export type GitResult =
  | { readonly kind: 'exited'; readonly code: number; readonly stdout: Buffer; readonly stderr: string }
  /** Stopped by us or not started, so its progress is unknown. */
  | { readonly kind: 'broken'; readonly explanation: string };

/** Never throws. Output is complete: a run that prints more than MAX_OUTPUT is stopped. */
export function runGit(run: GitRun): Promise<GitResult> {
  return new Promise((resolve) => {
    const child = spawn('git', [...CONFIGURATION, ...run.args], {
      cwd: run.cwd,
      env: { ...ENVIRONMENT, GIT_DIR: run.gitDir, ...run.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let broken: string | null = null;
    const timers: NodeJS.Timeout[] = [];
    const end = (explanation: string): void => {
      if (broken !== null) return;
      broken = explanation;
      child.kill('SIGTERM');
      timers.push(setTimeout(() => child.kill('SIGKILL'), GRACE_MS));
    };
    timers.push(setTimeout(() => end(`it did not finish within ${run.timeoutMs} ms`), run.timeoutMs));
    const onAbort = (): void => end('cancelled');
    run.signal?.addEventListener('abort', onAbort);
    if (run.signal?.aborted === true) onAbort();
    const collect = (stream: Readable): readonly Buffer[] => {
      const chunks: Buffer[] = [];
      let size = 0;
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_OUTPUT) end(`its output exceeded ${MAX_OUTPUT} bytes`);
        else chunks.push(chunk);
      });
      return chunks;
    };
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
    const done = (result: GitResult): void => {
      for (const timer of timers) clearTimeout(timer);
      run.signal?.removeEventListener('abort', onAbort);
      resolve(result);
    };
    child.on('error', (error) => done({ kind: 'broken', explanation: `git could not be run: ${error.message}` }));
    child.on('close', (code, signal) => {
      if (broken !== null || code === null) done({ kind: 'broken', explanation: broken ?? `stopped by ${signal}` });
      else
        done({ kind: 'exited', code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8') });
    });
    // Ignore EPIPE if git exits before it reads all input; `close` reports the result.
    child.stdin.on('error', () => {});
    child.stdin.end(run.stdin ?? '');
  });
}
