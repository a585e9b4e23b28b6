/**
 * Replays the histories of open and recently closed reviews once a day: damage stays hidden as long as a worker has the run in its
 * cache, and a review can complete with it.
 *
 * D1 Once a day across all committers, one at a time under an advisory lock. The row of the day is added at the end, so a replay that
 *    fails, or whose committer stops, starts again later. A committer starts at most MAX_ATTEMPTS a day that fail.
 * D2 A bounded number of reviews, one at a time, in another process with low priority.
 * D3 Each damaged history is a row `refused` with the check `history_damaged` in the ledger, once for each run. It changes no review:
 *    if the workflow cannot go on, the reconciler resets it.
 * D4 A day on which no history was replayed, for example because all are of another build, is an error in the log.
 */
import { HISTORY_DAMAGED } from '../../policy/contracts/ledger';
import type { Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import type { Database, Queryable } from '../../storage/database/database';
import { tryAdvisoryLock } from '../../storage/database/try-advisory-lock';
import type { Logger } from '../logger';
import type { Replayed } from '../replay/replay-histories';
import { reviewsToReplay } from '../replay/reviews-to-replay';
import type { ReconcilerOptions } from './repairs';

export interface DailyReplayOptions {
  readonly db: Database;
  readonly ledger: Pick<Ledger, 'append'>;
  /** Most reviews of one day. */
  readonly max: number;
  readonly replay: (
    changeIds: readonly string[],
    each: (replayed: Replayed) => Promise<void>,
    until: { readonly signal: AbortSignal },
  ) => Promise<void>;
  readonly now: () => Date;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly count: ReconcilerOptions['count'];
}

const MAX_ATTEMPTS = 4;
/** Longer than any replay. The roles of our database have a limit of 15 s, which is for transactions that lock reviews. */
const ALLOW_IDLE = `set local idle_in_transaction_session_timeout = '70min'`;
/** Of the start of the transaction. */
const TODAY = `(now() at time zone 'UTC')::date`;

type Counts = Record<Replayed['result'], number>;

/** What a committer calls regularly. Resolves with the number of histories of each result; null if there is nothing to do now. */
export function createDailyReplay(options: DailyReplayOptions): (stopping: AbortSignal) => Promise<Counts | null> {
  const failed = { day: '', times: 0 };
  return async (signal) => {
    const day = options.now().toISOString().slice(0, 10);
    if (failed.day !== day) Object.assign(failed, { day, times: 0 });
    if (failed.times >= MAX_ATTEMPTS) return null;
    try {
      return await replayOnce(options, signal);
    } catch (error) {
      failed.times++;
      if (failed.times === MAX_ATTEMPTS)
        options.logger.error({ day, attempts: MAX_ATTEMPTS }, 'This committer replays no more histories today');
      throw error;
    }
  };
}

async function replayOnce(options: DailyReplayOptions, signal: AbortSignal): Promise<Counts | null> {
  return await options.db.transaction(async (tx) => {
    if (!(await isDue(tx))) return null;
    await tx.query(ALLOW_IDLE);
    const { changeIds, of } = await reviewsToReplay(options.db, { max: options.max, everyOpen: false });
    const counts: Counts = { replays: 0, damaged: 0, skipped: 0, failed: 0 };
    const whySkipped: Record<string, number> = {};
    const each = async (replayed: Replayed): Promise<void> => {
      counts[replayed.result]++;
      if (replayed.result === 'skipped') whySkipped[replayed.why] = (whySkipped[replayed.why] ?? 0) + 1;
      await report(options, replayed);
    };
    await options.replay(changeIds, each, { signal });
    await tx.query(`insert into history_replays (day) values (${TODAY})`);
    const done = { ...counts, of, whySkipped };
    if (counts.replays + counts.damaged === 0 && of > 0) options.logger.error(done, 'No history was replayed today');
    else options.logger.info(done, 'Histories of reviews were replayed');
    return counts;
  });
}

/** Takes the lock. False if another committer has it, or if histories were replayed today. */
async function isDue(tx: Queryable): Promise<boolean> {
  if (!(await tryAdvisoryLock(tx, 'countersign daily replay', 2))) return false;
  const { rowCount } = await tx.query(`select from history_replays where day = ${TODAY}`);
  return rowCount === 0;
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
