import { messageOf } from '../client/errors';
import type { Checkpoint } from '../policy/evidence/predicates';
import type { Logger } from './logger';

export interface CheckpointRun {
  readonly checkpoint: () => Promise<{ readonly checkpoint: Checkpoint; readonly rows: number } | null>;
  /** The limit of one checkpoint. If it is reached there may be more rows, and the next one follows at once. */
  readonly maxRows: number;
  readonly everyMs: number;
  readonly logger: Pick<Logger, 'info' | 'error'>;
}

/**
 * Signs a checkpoint over the ledger now and then every `everyMs`. A failure is logged, and the next checkpoint covers the
 * same rows. `stop` waits for the one in progress.
 */
export function startCheckpoints({ checkpoint, maxRows, everyMs, logger }: CheckpointRun): {
  readonly stop: () => Promise<void>;
} {
  let stopped = false;
  let running: Promise<void> | null = null;

  async function catchUp(): Promise<void> {
    try {
      for (let more = true; more && !stopped;) {
        const signed = await checkpoint();
        if (signed !== null) logger.info({ size: signed.checkpoint.size, rows: signed.rows }, 'checkpoint signed');
        more = signed !== null && signed.rows >= maxRows;
      }
    } catch (error) {
      logger.error({ error: messageOf(error) }, 'The checkpoint could not be signed');
    }
  }

  function tick(): void {
    // One at a time: with a slow database they would pile up.
    running ??= catchUp().finally(() => (running = null));
  }

  tick();
  const timer = setInterval(tick, everyMs);
  timer.unref();
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
