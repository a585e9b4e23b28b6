import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logger';

export interface ReconcilerRun {
  readonly pass: () => Promise<unknown>;
  readonly everyMs: number;
  readonly logger: Pick<Logger, 'error'>;
  /** What a pass does, for the log. */
  readonly what?: string;
}

/**
 * Runs a pass about every `everyMs`, with up to a quarter more or less so that committers do not keep step. A failed pass is
 * logged and the next one follows. `stop` waits for the pass in progress.
 */
export function startReconciler({ pass, everyMs, logger, what = 'look at the open reviews' }: ReconcilerRun): {
  readonly stop: () => Promise<void>;
} {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const jittered = everyMs * (0.75 + Math.random() / 2);
      await sleep(jittered, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await pass();
      } catch (error) {
        logger.error({ error: String(error) }, `The reconciler could not ${what}`);
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
