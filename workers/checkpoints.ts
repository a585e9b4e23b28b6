import type { Checkpoint } from '../policy/evidence/predicates';
import type { Logger } from './logger';
import { repeat } from './repeat';

export interface CheckpointRun {
  readonly checkpoint: () => Promise<{ readonly checkpoint: Checkpoint; readonly rows: number } | null>;
  /** The limit of one checkpoint. If it is reached there may be more rows, and the next one follows at once. */
  readonly maxRows: number;
  readonly everyMs: number;
  readonly logger: Pick<Logger, 'info' | 'error'>;
}

/** Signs a checkpoint over the ledger now and then about every `everyMs`. After a failure the next one covers the same rows. */
export function startCheckpoints({ checkpoint, maxRows, everyMs, logger }: CheckpointRun): {
  readonly stop: () => Promise<void>;
} {
  async function catchUp(stopping: AbortSignal): Promise<void> {
    for (let more = true; more && !stopping.aborted;) {
      const signed = await checkpoint();
      if (signed !== null) logger.info({ size: signed.checkpoint.size, rows: signed.rows }, 'checkpoint signed');
      more = signed !== null && signed.rows >= maxRows;
    }
  }

  return repeat({ pass: catchUp, everyMs, logger, failure: 'The checkpoint could not be signed', atOnce: true });
}
