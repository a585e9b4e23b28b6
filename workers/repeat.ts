import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from './logger';

export interface Repeated {
  readonly pass: (stopping: AbortSignal) => Promise<unknown>;
  readonly everyMs: number;
  readonly logger: Pick<Logger, 'error'>;
  /** For the log, if a pass fails. */
  readonly failure: string;
}

/**
 * Runs a pass about every `everyMs`, with up to a quarter more or less so that processes do not keep step. A failed pass is logged and
 * the next one follows. `stop` waits for the pass in progress.
 */
export function repeat({ pass, everyMs, logger, failure }: Repeated): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const jittered = everyMs * (0.75 + Math.random() / 2);
      // The aborted sleep rejects: the loop then ends.
      await sleep(jittered, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await pass(signal);
      } catch (error) {
        logger.error({ error: String(error) }, failure);
      }
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
