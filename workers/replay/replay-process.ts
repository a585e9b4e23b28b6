import { fork } from 'node:child_process';
import { join } from 'node:path';
import { Replayed } from './replay-histories';

const SCRIPT = join(__dirname, '..', 'replay.js');
const MAX_MS = 60 * 60_000;

interface ReplayProcessOptions {
  /** With the variables of Temporal, of this process unless given. */
  readonly env?: NodeJS.ProcessEnv;
  readonly script?: string;
  readonly signal: AbortSignal;
}

/**
 * Replays the histories of these reviews in another process with low priority, so that no worker waits for it. Calls `each` for one
 * after the other. Rejects if the process fails or takes longer than an hour.
 */
export async function replayInProcess(
  changeIds: readonly string[],
  each: (replayed: Replayed) => Promise<void>,
  { env = process.env, script = SCRIPT, signal }: ReplayProcessOptions,
): Promise<void> {
  const child = fork(script, [], { env, signal, timeout: MAX_MS, killSignal: 'SIGKILL', stdio: 'inherit' });
  const failures: Error[] = [];
  let done = Promise.resolve();
  // It could not be started or reached, or `signal` aborted. It is closed after that.
  child.on('error', (error) => failures.push(error));
  child.on('message', (message) => {
    done = done.then(() => each(Replayed.parse(message)));
    // The failure is rethrown below.
    done.catch(() => child.kill('SIGKILL'));
  });
  child.send(changeIds);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  await done;
  const [failure] = failures;
  if (failure !== undefined) throw failure;
  if (code !== 0) throw new Error(`The replay of histories ended with exit code ${String(code)}`);
}
