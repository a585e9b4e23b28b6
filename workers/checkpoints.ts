import type { Checkpoint } from '../policy/evidence/predicates';
import type { Logger } from './logger';

export interface CheckpointRun {
  readonly checkpoint: () => Promise<{ readonly checkpoint: Checkpoint; readonly rows: number } | null>;
  /** As many rows as one checkpoint takes: then there may be more, and the next one follows at once. */
  readonly maxRows: number;
  readonly everyMs: number;
  readonly logger: Pick<Logger, 'info' | 'error'>;
}

/**
 * Signs a checkpoint over the ledger now and once every `everyMs`. A failure is logged and tried again at the next turn:
 * what it covers stands in the ledger all the same. `stop` waits for the one under way.
 */
export function startCheckpoints({ checkpoint, maxRows, everyMs, logger }: CheckpointRun): {
  readonly stop: () => Promise<void>;
} {
  let stopped = false;
  let running: Promise<void> | null = null;

  async function catchUp(): Promise<void> {
    try {
      for (let more = true; more && !stopped;) {
        const made = await checkpoint();
        if (made !== null) logger.info({ size: made.checkpoint.size, rows: made.rows }, 'checkpoint signed');
        more = made !== null && made.rows >= maxRows;
      }
    } catch (error) {
      logger.error({ error: error instanceof Error ? error.message : String(error) }, 'No checkpoint could be signed');
    }
  }

  function turn(): void {
    // One at a time: a slow database must not make them pile up.
    running ??= catchUp().finally(() => (running = null));
  }

  turn();
  const timer = setInterval(turn, everyMs);
  timer.unref();
  return {
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
