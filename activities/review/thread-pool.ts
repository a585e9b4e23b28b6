/**
 * Threads for work on untrusted bytes. The main thread only waits: it goes on polling, heartbeating and answering.
 *
 * T1 A task has a wall time of its own, which begins when a thread that is ready takes it; past it the thread is killed with
 *    all it holds. Loading modules on a busy machine counts for nobody's task.
 * T2 A thread that dies, for whatever reason, fails a task as ErrValidatorBackend, to be retried, and is replaced when it is needed.
 * T3 A thread that waits for work keeps no process alive.
 */
import { CountersignFailure } from '../../policy/contracts/failure';
import type { Worker } from 'node:worker_threads';
import { FailureType } from '../../policy/contracts/failure-type';

export interface ThreadPoolOptions {
  /** Starts a thread that says `THREAD_READY` once, and then answers each message with one `ThreadReply`. */
  readonly start: () => Worker;
  readonly size: number;
  /** Of one task, from the moment that a thread takes it. */
  readonly wallMs: number;
}

export const THREAD_READY = 'ready';

/** What a thread answers: a task's result as JSON, or why there is none. */
export type ThreadReply =
  { readonly ok: true; readonly json: string } | { readonly ok: false; readonly message: string };

export interface ThreadPool {
  /** Resolves with the result's JSON. Rejects with ErrValidatorBackend, which is retried. */
  readonly run: (task: object) => Promise<string>;
  readonly close: () => Promise<void>;
}

interface Waiting {
  readonly task: object;
  readonly resolve: (json: string) => void;
  readonly reject: (error: Error) => void;
}

/** A thread that has not loaded its modules by then is given up. */
const START_MS = 60_000;

export function createThreadPool(options: ThreadPoolOptions): ThreadPool {
  const pool = new Pool(options);
  return { run: (task) => pool.run(task), close: () => pool.close() };
}

class Pool {
  readonly #options: ThreadPoolOptions;
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();
  readonly #queue: Waiting[] = [];
  #starting = 0;
  #closed = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
  }

  run(task: object): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(unanswered('The threads are closed'));
      this.#queue.push({ task, resolve, reject });
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#queue.splice(0)) reject(unanswered('The threads are closed'));
    await Promise.all([...this.#all].map((thread) => thread.terminate()));
  }

  #next(): void {
    while (this.#queue.length > 0 && !this.#closed) {
      const thread = this.#idle.pop();
      if (thread === undefined) break;
      this.#give(thread, this.#queue.shift() as Waiting);
    }
    while (!this.#closed && this.#starting < this.#queue.length && this.#all.size < this.#options.size) this.#begin();
  }

  /** Takes the thread out; `terminate` is idempotent. */
  #drop(thread: Worker): void {
    this.#all.delete(thread);
    const at = this.#idle.indexOf(thread);
    if (at !== -1) this.#idle.splice(at, 1);
    void thread.terminate();
  }

  #begin(): void {
    const thread = this.#options.start();
    this.#all.add(thread);
    this.#starting++;
    const settle = (then: () => void): void => {
      this.#starting--;
      clearTimeout(timer);
      thread.off('message', ready).off('exit', dead).off('error', failed);
      then();
      this.#next();
    };
    const ready = (): void =>
      settle(() => {
        // An idle thread that dies is replaced at the next task.
        thread.on('exit', () => this.#drop(thread)).on('error', () => this.#drop(thread));
        thread.unref();
        this.#idle.push(thread);
      });
    // Fails one waiting task: otherwise a module that cannot be loaded would be loaded for ever.
    const fail = (message: string): void =>
      settle(() => {
        this.#drop(thread);
        this.#queue.shift()?.reject(unanswered(message));
      });
    const failed = (error: Error): void => fail(`The thread could not start: ${error.name} ${codeOf(error)}`);
    const dead = (): void => fail('The thread ended while it started');
    const timer = setTimeout(() => fail(`The thread did not start in ${START_MS} ms`), START_MS);
    thread.on('message', ready).on('exit', dead).on('error', failed);
  }

  #give(thread: Worker, { task, resolve, reject }: Waiting): void {
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
    const fail = (message: string): void => settle(() => reject(unanswered(message)), false);
    const onMessage = (reply: ThreadReply): void =>
      settle(() => (reply.ok ? resolve(reply.json) : reject(unanswered(reply.message))), true);
    const onError = (error: Error): void => fail(`The thread failed: ${error.name} ${codeOf(error)}`);
    const onExit = (): void => fail('The thread ended');
    const timer = setTimeout(() => fail(`It took longer than ${wallMs} ms`), wallMs);
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      thread.postMessage(task);
    } catch (error) {
      fail(`The task cannot be handed to a thread: ${String(error)}`);
    }
  }
}

/** Another attempt may find a less busy machine. After the last one it is an ERROR that a person answers. */
function unanswered(message: string): CountersignFailure {
  return CountersignFailure.retryable(`The change could not be read: ${message}`, FailureType.Backend);
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
