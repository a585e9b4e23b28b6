import { replayInProcess } from '../replay/replay-process';
import type { Logger } from '../logger';
import { repeat } from '../repeat';
import type { Resources } from '../resources';
import { reconcilerMetrics } from '../worker-metrics';
import { createDailyReplay } from './daily-replay';

/** How often a committer looks whether a day without a replay has begun. The first time is not at its start, when much else begins. */
const LOOK_MS = 15 * 60_000;

export function startDailyReplay(
  max: number,
  { db, ledger, now }: Pick<Resources, 'db' | 'ledger' | 'now'>,
  logger: Logger,
): { readonly stop: () => Promise<void> } {
  if (max === 0) return { stop: async () => {} };
  const dailyReplay = createDailyReplay({
    db,
    ledger,
    max,
    now,
    logger,
    count: reconcilerMetrics(),
    replay: replayInProcess,
  });
  return repeat({
    pass: dailyReplay,
    everyMs: LOOK_MS,
    logger,
    failure: 'The reconciler could not replay the histories of reviews',
  });
}
