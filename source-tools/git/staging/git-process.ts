/**
 * Runs git, and nothing of anybody's else.
 *
 * P1 No hook, alias, filter, remote or credential helper of a user, of the system or of the repository runs: their
 *    configuration is not read, and what the repository's own could name is overridden on the command line.
 * P2 Every run is bounded in time and output. It is asked to end first (SIGTERM): git then removes its locks.
 */
import { spawn } from 'node:child_process';

/** Objects as they are: no replacement refs, no grafts, nothing fetched from elsewhere. */
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

const MAX_OUTPUT = 64 * 1024 * 1024;
const MAX_WORDS = 64 * 1024;
/** After SIGTERM. */
const GRACE_MS = 5_000;

export interface GitRun {
  readonly args: readonly string[];
  readonly gitDir: string;
  /** An empty directory: git reads attributes and the like from where it stands. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Uint8Array | string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export type GitResult =
  | { readonly kind: 'exited'; readonly code: number; readonly stdout: Buffer; readonly words: string }
  /** Ended by us, or could not be started: nobody knows how far it came. */
  | { readonly kind: 'broken'; readonly explanation: string };

/** Never throws. `words` is what git said on standard error, at most 64 KiB of it. */
export function runGit(run: GitRun): Promise<GitResult> {
  return new Promise((resolve) => {
    const child = spawn('git', [...CONFIGURATION, ...run.args], {
      cwd: run.cwd,
      env: { ...ENVIRONMENT, GIT_DIR: run.gitDir, ...run.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const stdout: Buffer[] = [];
    const words: Buffer[] = [];
    let [size, said] = [0, 0];
    let broken: string | null = null;
    const timers: NodeJS.Timeout[] = [];
    const end = (explanation: string): void => {
      if (broken !== null) return;
      broken = explanation;
      child.kill('SIGTERM');
      timers.push(setTimeout(() => child.kill('SIGKILL'), GRACE_MS));
    };
    timers.push(setTimeout(() => end(`no end in ${run.timeoutMs} ms`), run.timeoutMs));
    const onAbort = (): void => end('cancelled');
    run.signal?.addEventListener('abort', onAbort);
    if (run.signal?.aborted === true) onAbort();
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT) end(`more than ${MAX_OUTPUT} bytes of output`);
      else stdout.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (said < MAX_WORDS) words.push(chunk);
      said += chunk.length;
    });
    const done = (result: GitResult): void => {
      for (const timer of timers) clearTimeout(timer);
      run.signal?.removeEventListener('abort', onAbort);
      resolve(result);
    };
    child.on('error', (error) => done({ kind: 'broken', explanation: `git cannot be run: ${error.message}` }));
    child.on('close', (code, signal) => {
      if (broken !== null || code === null) done({ kind: 'broken', explanation: broken ?? `ended by ${signal}` });
      else
        done({
          kind: 'exited',
          code,
          stdout: Buffer.concat(stdout),
          words: Buffer.concat(words).toString('utf8').slice(0, MAX_WORDS),
        });
    });
    // A git that has ended takes no more input; how it ended is what counts.
    child.stdin.on('error', () => {});
    child.stdin.end(run.stdin ?? '');
  });
}
