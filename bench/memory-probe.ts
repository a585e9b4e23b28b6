/**
 * Loaded into each process by `npm run soak` (node --expose-gc --require), and so into each of its worker threads. On SIGWINCH all threads
 * collect garbage, and the main thread writes the sizes of the heaps and the number of its open handles to a file, which `readProcess` of
 * soak-readings.ts reads. The heaps of other threads are read in the threads themselves: `worker.getHeapStatistics` needs Node 22.16.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';
import { probeFile } from './probe-file';

type Message =
  /** From a thread that has started. */
  | { readonly kind: 'started'; readonly threadId: number }
  | { readonly kind: 'ask'; readonly turn: number }
  | { readonly kind: 'reply'; readonly turn: number; readonly threadId: number; readonly heapBytes: number };

const channel = new BroadcastChannel('countersign-memory-probe');
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads, not windows
const post = (message: Message): void => channel.postMessage(message);
const listen = (handle: (message: Message) => void): void => {
  channel.addEventListener('message', (event) => handle((event as unknown as { readonly data: Message }).data));
  // Keeps neither the process nor the thread alive.
  channel.unref();
};

/** The soak itself runs without --expose-gc. */
const collectGarbage = globalThis.gc ?? exposedGc();

function exposedGc(): () => unknown {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => unknown;
}

/** Of this thread. */
function heapBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function probeThread(): void {
  listen((message) => {
    if (message.kind === 'ask') post({ kind: 'reply', turn: message.turn, threadId, heapBytes: heapBytes() });
  });
  post({ kind: 'started', threadId });
}

function probeProcess(): void {
  const threads = new Set<number>();
  // The message of a thread that starts can arrive after the thread has ended.
  const ended = new Set<number>();
  const replies = new Map<number, number>();
  let turn = 0;
  let isAsked = false;

  const writeWhenComplete = (): void => {
    if (!isAsked || [...threads].some((id) => !replies.has(id))) return;
    isAsked = false;
    const threadsHeapBytes = [...replies.values()].reduce((sum, bytes) => sum + bytes, 0);
    const reading = {
      heapBytes: heapBytes(),
      threadsHeapBytes,
      handles: process.getActiveResourcesInfo().length,
    };
    const file = probeFile(process.pid);
    writeFileSync(`${file}.partial`, JSON.stringify(reading));
    renameSync(`${file}.partial`, file);
  };

  listen((message) => {
    if (message.kind === 'started' && !ended.has(message.threadId)) {
      threads.add(message.threadId);
      // It did not hear the question.
      if (isAsked) post({ kind: 'ask', turn });
    }
    if (message.kind === 'reply' && message.turn === turn) replies.set(message.threadId, message.heapBytes);
    writeWhenComplete();
  });
  process.on('worker', (worker) => {
    // A thread that has ended has no id.
    const id = worker.threadId;
    worker.once('exit', () => {
      ended.add(id);
      threads.delete(id);
      replies.delete(id);
      writeWhenComplete();
    });
  });
  // The SDK ends a worker on SIGUSR2, and SIGUSR1 starts Node's debugger.
  process.on('SIGWINCH', () => {
    turn++;
    isAsked = true;
    replies.clear();
    post({ kind: 'ask', turn });
    writeWhenComplete();
  });
}

if (isMainThread) probeProcess();
else probeThread();
