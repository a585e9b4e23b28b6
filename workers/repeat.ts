import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from './logger';

export interface Repeated {
  readonly pass: (stopping: AbortSignal) => Promise<unknown>;
  readonly everyMs: number;
  readonly logger: Pick<Logger, 'error'>;
  /** For the log, if a pass fails. */
  readonly failure: string;
  /** The first pass begins at once. Default: after the first pause. */
  readonly atOnce?: boolean;
}

/**
 * Runs a pass about every `everyMs`, with up to a quarter more or less so that processes do not keep step. A failed pass is logged and
 * the next one follows. `stop` waits for the pass in progress.
 */
export function repeat({ pass, everyMs, logger, failure, atOnce = false }: Repeated): {
  readonly stop: () => Promise<void>;
} {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function pause(): Promise<void> {
    const jittered = everyMs * (0.75 + Math.random() / 2);
    // The aborted sleep rejects: the loop then ends.
    await sleep(jittered, undefined, { signal, ref: false }).catch(() => undefined);
  }

  async function run(): Promise<void> {
    if (!atOnce) await pause();
    while (!signal.aborted) {
      try {
        await pass(signal);
      } catch (error) {
        logger.error({ error: String(error) }, failure);
      }
      await pause();
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
