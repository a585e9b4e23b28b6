import { replayInProcess } from '../replay/replay-process';
import type { Logger } from '../logger';
import type { Resources } from '../resources';
import { createDailyReplay } from './daily-replay';
import { reconcilerMetrics } from './metrics';
import { startReconciler } from './start-reconciler';

/** How often a committer looks whether a day without a replay has begun. The first time is not at its start, when much else begins. */
const LOOK_MS = 15 * 60_000;

export function startDailyReplay(
  max: number,
  { db, ledger, now }: Pick<Resources, 'db' | 'ledger' | 'now'>,
  logger: Logger,
): { readonly stop: () => Promise<void> } {
  if (max === 0) return { stop: async () => {} };
  const stopping = new AbortController();
  const count = reconcilerMetrics();
  const running = startReconciler({
    pass: createDailyReplay({
      ...{ db, ledger, max, now, logger, count },
      replay: (changeIds, each) => replayInProcess(changeIds, each, { signal: stopping.signal }),
    }),
    everyMs: LOOK_MS,
    logger,
    what: 'replay the histories of reviews',
  });
  return {
    async stop() {
      stopping.abort();
      await running.stop();
    },
  };
}
