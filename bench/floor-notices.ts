import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { DISCLOSED_WITHIN_MS, LOOK_EVERY_MS } from './reviews';

/** What an activity of the floor tells the client, as a row of the ledger does. */
export interface FloorNotice {
  readonly workflowId: string;
  readonly what: 'waits' | 'ended';
}

const WITHIN_MS = 60_000;

/** Notices of all workers of a floor. */
export class FloorNotices {
  readonly #arrived = new Set<string>();
  readonly #waiting = new Map<string, () => void>();

  listenTo(worker: ChildProcess): void {
    worker.on('message', (message) => {
      if (typeof message !== 'object') return;
      const { workflowId, what } = message as FloorNotice;
      const key = `${what} ${workflowId}`;
      this.#arrived.add(key);
      this.#waiting.get(key)?.();
    });
  }

  /** As an approver's client waits: it looks again and again. */
  async seen(what: FloorNotice['what'], workflowId: string): Promise<void> {
    for (const until = Date.now() + DISCLOSED_WITHIN_MS; Date.now() < until; await sleep(LOOK_EVERY_MS))
      if (this.#arrived.has(`${what} ${workflowId}`)) return;
    throw new Error(`The floor ${workflowId} gave no notice "${what}" in ${DISCLOSED_WITHIN_MS / 1000} s`);
  }

  async until(what: FloorNotice['what'], workflowId: string): Promise<void> {
    if (this.#arrived.has(`${what} ${workflowId}`)) return;
    await new Promise<void>((resolve, reject) => {
      const late = new Error(`The floor ${workflowId} gave no notice "${what}" in ${WITHIN_MS / 1000} s`);
      const timer = setTimeout(() => reject(late), WITHIN_MS);
      this.#waiting.set(`${what} ${workflowId}`, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
