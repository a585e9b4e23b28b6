/**
 * Worker threads for untrusted bytes. The main thread stays free to poll, heartbeat and answer queries.
 *
 * T1 Each task has a wall-clock limit that starts when a ready thread takes it. When it expires, the thread is terminated. The
 *    time to load modules does not count.
 * T2 If a thread dies, its task fails with ErrValidatorBackend, which is retried. The thread is replaced when needed.
 * T3 An idle thread does not keep the process alive.
 */
import { CountersignFailure } from '../../policy/contracts/failure';
import type { Worker } from 'node:worker_threads';
import { FailureType } from '../../policy/contracts/failure-type';

interface ThreadPoolOptions {
  /** Starts a thread that posts `THREAD_READY` once, and then answers each message with one `ThreadReply`. */
  readonly start: () => Worker;
  readonly size: number;
  /** Limit for one task in milliseconds, from the moment that a thread takes it. */
  readonly wallMs: number;
}

export const THREAD_READY = 'ready';

/** Answer of a thread: the result of the task as JSON, or an error message. */
export type ThreadReply =
  { readonly ok: true; readonly json: string } | { readonly ok: false; readonly message: string };

interface PendingTask {
  readonly task: object;
  readonly resolve: (json: string) => void;
  readonly reject: (error: Error) => void;
}

/** A thread that is not ready after this time is terminated. */
const START_TIMEOUT_MS = 60_000;

export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();
  readonly #queue: PendingTask[] = [];
  #starting = 0;
  #closed = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
  }

  /** Resolves with the result's JSON. Rejects with ErrValidatorBackend, which is retried. */
  run(task: object): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(backendFailure('the thread pool is closed'));
      this.#queue.push({ task, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#queue.splice(0)) reject(backendFailure('the thread pool is closed'));
    await Promise.all([...this.#all].map((thread) => thread.terminate()));
  }

  #next(): void {
    while (this.#queue.length > 0 && !this.#closed) {
      const thread = this.#idle.pop();
      if (thread === undefined) break;
      this.#assign(thread, this.#queue.shift() as PendingTask);
    }
    while (!this.#closed && this.#starting < this.#queue.length && this.#all.size < this.#options.size)
      if (!this.#startThread()) break;
  }

  /** Removes and terminates the thread. Idempotent. */
  #drop(thread: Worker): void {
    this.#all.delete(thread);
    const at = this.#idle.indexOf(thread);
    if (at !== -1) this.#idle.splice(at, 1);
    // It may still fail until it has ended. Without a listener that would end the process.
    thread.on('error', () => {});
    void thread.terminate();
  }

  /** False if no thread can be created now, and the tasks wait for those that exist. */
  #startThread(): boolean {
    let thread: Worker;
    try {
      thread = this.#options.start();
    } catch (error) {
      // Node throws if the system creates no further thread. Without any, nothing would ever take the task.
      if (this.#all.size > 0) return false;
      const problem = error instanceof Error ? `${error.name} ${codeOf(error)}` : 'a non-error was thrown';
      this.#queue.shift()?.reject(backendFailure(`no thread can be created: ${problem}`));
      return true;
    }
    this.#all.add(thread);
    this.#starting++;
    const settle = (then: () => void): void => {
      this.#starting--;
      clearTimeout(timer);
      thread.off('message', ready).off('exit', exited).off('error', failed);
      then();
      this.#next();
    };
    const ready = (): void =>
      settle(() => {
        // An idle thread that dies is replaced when the next task arrives.
        thread.on('exit', () => this.#drop(thread)).on('error', () => this.#drop(thread));
        thread.unref();
        this.#idle.push(thread);
      });
    // Fails one queued task: otherwise a module that cannot be loaded would be loaded again without end.
    const fail = (message: string): void =>
      settle(() => {
        this.#drop(thread);
        this.#queue.shift()?.reject(backendFailure(message));
      });
    const failed = (error: Error): void => fail(`the thread failed to start: ${error.name} ${codeOf(error)}`);
    const exited = (): void => fail('the thread exited while it was starting');
    const timer = setTimeout(() => fail(`the thread did not start in ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
    thread.on('message', ready).on('exit', exited).on('error', failed);
    return true;
  }

  #assign(thread: Worker, { task, resolve, reject }: PendingTask): void {
    const { wallMs } = this.#options;
    thread.ref();
    const settle = (then: () => void, reusable: boolean): void => {
      clearTimeout(timer);
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      thread.unref();
      if (reusable) this.#idle.push(thread);
      else this.#drop(thread);
      then();
      this.#next();
    };
    const fail = (message: string): void => settle(() => reject(backendFailure(message)), false);
    const onMessage = (reply: ThreadReply): void =>
      settle(() => (reply.ok ? resolve(reply.json) : reject(backendFailure(reply.message))), true);
    const onError = (error: Error): void => fail(`the thread failed: ${error.name} ${codeOf(error)}`);
    const onExit = (): void => fail('the thread exited');
    const timer = setTimeout(() => fail(`it took longer than ${wallMs} ms`), wallMs);
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      thread.postMessage(task);
    } catch (error) {
      fail(`cannot post the task to a thread: ${String(error)}`);
    }
  }
}

/** Retryable: the machine may be less busy later. After the last attempt it becomes an ERROR that a person must answer. */
function backendFailure(message: string): CountersignFailure {
  return CountersignFailure.retryable(`Cannot evaluate the change: ${message}`, FailureType.Backend);
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
