import type { KeyRegistry } from '../../policy/evidence/key-registry';
import type { Ledger } from '../../policy/evidence/ledger-port';
import type { Database } from '../../storage/database/database';
import { noticeStore } from '../../storage/notices/notices';
import type { PlanSource } from '../../storage/plans/plan-source';
import type { Logger } from '../logger';
import { repeat } from '../repeat';
import { deliverNotices, type DeliveryDeps } from './deliver-notices';
import { planNotices } from './plan-notices';
import type { NoticeSettings } from './settings';

interface NoticesRun {
  readonly db: Database;
  readonly ledger: Pick<Ledger, 'read'>;
  readonly plans: Pick<PlanSource, 'byHash'>;
  readonly keys: Pick<KeyRegistry, 'snapshot'>;
  readonly settings: NoticeSettings;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly count: DeliveryDeps['count'];
  readonly everyMs?: number;
}

const EVERY_MS = 2_000;
const MAX_LOOKS = 200;

/** Plans and sends notices until it is stopped. Several workers may do so at once. `stop` waits for the messages that are being sent. */
export function startNotices(run: NoticesRun): { readonly stop: () => Promise<void> } {
  const { db, logger, everyMs = EVERY_MS } = run;
  const store = noticeStore(db);
  const deps = { ...run, store, now: () => new Date() };

  async function plan(signal: AbortSignal): Promise<void> {
    for (const look of await store.looks(MAX_LOOKS)) {
      if (signal.aborted) return;
      try {
        await planNotices(deps, look, deps.now());
      } catch (error) {
        logger.error({ changeId: look.changeId, error: String(error) }, 'The notices of a review could not be planned');
        await store.planned(look, [], new Date(Date.now() + RETRY_MS));
      }
    }
  }

  async function pass(signal: AbortSignal): Promise<void> {
    try {
      await plan(signal);
    } finally {
      // Also what was planned before, if nothing can be planned now.
      if (!signal.aborted) await deliverNotices(deps, signal);
    }
  }

  return repeat({ pass, everyMs, logger, failure: 'Notices could not be planned or sent' });
}

/** A review whose rows cannot be read is looked at again after this time. */
const RETRY_MS = 10 * 60_000;
