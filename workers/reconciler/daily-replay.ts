/**
 * Replays the histories of open and recently closed reviews once a day: damage stays hidden as long as a worker has the run in its
 * cache, and a review can complete with it.
 *
 * D1 Once a day across all committers: the first one that adds the row of the day. A replay that fails is not repeated that day.
 * D2 A bounded number of reviews, one at a time, in another process with low priority.
 * D3 Each damaged history is a row `refused` with the check `history_damaged` in the ledger, once for each run. It changes no review:
 *    if the workflow cannot go on, the reconciler resets it.
 */
import { HISTORY_DAMAGED } from '../../policy/contracts/ledger';
import type { Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import type { Database } from '../../storage/database/database';
import type { Logger } from '../logger';
import type { Replayed } from '../replay/replay-histories';
import { reviewsToReplay } from '../replay/reviews-to-replay';
import type { ReconcilerOptions } from './reconciler';

export interface DailyReplayOptions {
  readonly db: Database;
  readonly ledger: Pick<Ledger, 'append'>;
  /** Most reviews of one day. */
  readonly max: number;
  readonly replay: (changeIds: readonly string[], each: (replayed: Replayed) => Promise<void>) => Promise<void>;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly count: ReconcilerOptions['count'];
}

/** Resolves with the number of histories of each result; null if they were replayed today. */
export async function dailyReplay(options: DailyReplayOptions): Promise<Record<Replayed['result'], number> | null> {
  const { db, logger } = options;
  const { rowCount } = await db.query(
    `insert into history_replays (day) values ((now() at time zone 'UTC')::date) on conflict do nothing`,
  );
  if (rowCount !== 1) return null;
  const counts = { replays: 0, damaged: 0, skipped: 0, failed: 0 };
  await options.replay(await reviewsToReplay(db, options.max), async (replayed) => {
    counts[replayed.result]++;
    await report(options, replayed);
  });
  logger.info(counts, 'Histories of reviews were replayed');
  return counts;
}

async function report({ ledger, now, logger, count }: DailyReplayOptions, replayed: Replayed): Promise<void> {
  const { changeId, runId, result, why } = replayed;
  switch (result) {
    case 'replays':
    case 'skipped':
      return;
    case 'failed':
      logger.warn({ changeId, runId, why }, 'The history of a review could not be replayed');
      return;
    case 'damaged': {
      const body = { check: HISTORY_DAMAGED, explanation: why, runId };
      const factKey = `${HISTORY_DAMAGED}:${runId ?? ''}`;
      const entry: LedgerEntry = { kind: 'refused', at: now().toISOString(), factKey, body };
      await ledger.append(changeId, [entry]);
      count({ found: 'history', did: 'seen' });
      logger.error({ changeId, runId, why }, 'The history of a review does not replay');
      return;
    }
    default:
      return result satisfies never;
  }
}
