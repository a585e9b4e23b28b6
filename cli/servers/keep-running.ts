import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../client/errors';

/** What is kept running. */
interface Running {
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

export interface KeepRunningOptions<Name extends string> {
  /** Resolves when the process is ready; rejects if it ends before. */
  readonly start: (name: Name) => Promise<Running>;
  readonly log: (text: string) => void;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now?: () => number;
}

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** A process that ran this long is healthy: its next crash starts with the shortest wait again. */
const HEALTHY_MS = 60_000;

/**
 * Starts all processes, and starts one again when it ends, after a wait that doubles from one second to half a minute.
 * Rejects, with all of them stopped, if one does not become ready the first time: its configuration is then wrong.
 */
export async function keepRunning<Name extends string>(
  names: readonly Name[],
  options: KeepRunningOptions<Name>,
): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController();
  const first = await Promise.allSettled(names.map((name) => options.start(name)));
  const running = first.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failed = first.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    await Promise.all(running.map((each) => each.stop()));
    throw failed.reason;
  }
  const loops = names.map((name, i) => supervise(name, running[i] as Running, options, stopping.signal));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

async function supervise<Name extends string>(
  name: Name,
  first: Running,
  { start, log, sleep: pause = abortableSleep, now = Date.now }: KeepRunningOptions<Name>,
  stopping: AbortSignal,
): Promise<void> {
  const stopped = new Promise<void>((resolve) => stopping.addEventListener('abort', () => resolve(), { once: true }));
  let running: Running | null = first;
  let startedAt = now();
  let waitMs = FIRST_MS;
  while (!stopping.aborted) {
    if (running !== null) {
      await Promise.race([running.ended, stopped]);
      if (stopping.aborted) break;
      if (now() - startedAt >= HEALTHY_MS) waitMs = FIRST_MS;
    }
    log(`${name} is started again in ${waitMs / 1000} s`);
    await pause(waitMs, stopping);
    waitMs = Math.min(waitMs * 2, LONGEST_MS);
    if (stopping.aborted) return;
    running = await started(() => start(name), log);
    startedAt = now();
  }
  await running?.stop();
}

/** Null, with a message, if the process does not become ready. */
async function started(start: () => Promise<Running>, log: (text: string) => void): Promise<Running | null> {
  try {
    return await start();
  } catch (error) {
    log(messageOf(error));
    return null;
  }
}

async function abortableSleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
