/**
 * Threads for work on untrusted bytes. The main thread only waits: it goes on polling, heartbeating and answering.
 *
 * T1 A task has a wall time of its own, which begins when a thread takes it; past it the thread is killed with all it holds.
 * T2 A thread that dies, for whatever reason, fails its task as ErrValidatorBackend, to be retried, and is replaced when it is needed.
 * T3 A thread that waits for work keeps no process alive.
 */
import { ApplicationFailure } from '@temporalio/common';
import type { Worker } from 'node:worker_threads';
import { FailureType } from '../../policy/contracts/failure-type';

export interface ThreadPoolOptions {
  /** Starts a thread that answers each message with one `ThreadReply`. */
  readonly start: () => Worker;
  readonly size: number;
  /** Of one task, from the moment that a thread takes it. */
  readonly wallMs: number;
}

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

export function createThreadPool(options: ThreadPoolOptions): ThreadPool {
  const idle: Worker[] = [];
  const all = new Set<Worker>();
  const queue: Waiting[] = [];
  let closed = false;

  const add = (): Worker => {
    const thread = options.start();
    all.add(thread);
    thread.once('exit', () => {
      all.delete(thread);
      const at = idle.indexOf(thread);
      if (at !== -1) idle.splice(at, 1);
    });
    // What ends a busy thread is told to its task; an idle one is replaced at the next task.
    thread.on('error', () => undefined);
    return thread;
  };

  const next = (): void => {
    const [first] = queue;
    if (first === undefined || closed) return;
    const thread = idle.pop() ?? (all.size < options.size ? add() : undefined);
    if (thread === undefined) return;
    queue.shift();
    give(thread, first);
  };

  const give = (thread: Worker, { task, resolve, reject }: Waiting): void => {
    thread.ref();
    const settle = (then: () => void, reusable: boolean): void => {
      clearTimeout(timer);
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      thread.unref();
      if (reusable) idle.push(thread);
      else {
        all.delete(thread);
        void thread.terminate();
      }
      then();
      next();
    };
    const fail = (message: string): void => settle(() => reject(unanswered(message)), false);
    const onMessage = (reply: ThreadReply): void =>
      settle(() => (reply.ok ? resolve(reply.json) : reject(unanswered(reply.message))), true);
    const onError = (error: Error): void => fail(`The thread failed: ${error.name} ${codeOf(error)}`);
    const onExit = (): void => fail('The thread ended');
    const timer = setTimeout(() => fail(`It took longer than ${options.wallMs} ms`), options.wallMs);
    thread.on('message', onMessage).on('error', onError).on('exit', onExit);
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      thread.postMessage(task);
    } catch (error) {
      fail(`The task cannot be handed to a thread: ${String(error)}`);
    }
  };

  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(unanswered('The threads are closed'));
        queue.push({ task, resolve, reject });
        next();
      }),
    close: async () => {
      closed = true;
      for (const { reject } of queue.splice(0)) reject(unanswered('The threads are closed'));
      await Promise.all([...all].map((thread) => thread.terminate()));
    },
  };
}

/** Another attempt may find a less busy machine. After the last one it is an ERROR that a person answers. */
function unanswered(message: string): ApplicationFailure {
  return ApplicationFailure.retryable(`The change could not be read: ${message}`, FailureType.Backend);
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
