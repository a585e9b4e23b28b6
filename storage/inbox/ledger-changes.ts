import { isDatabaseDown } from '../database/database-down';
import type { Queryable } from '../database/database';
import type { LedgerNotifications } from '../ledger/notifications';

const EVERY_MS = 1_000;
/** Newest rows that are looked at, when rows may have been missed. */
const NEWEST_ROWS = 500;

export interface LedgerChangesOptions {
  readonly notifications: Pick<LedgerNotifications, 'onEach' | 'isListening'>;
  readonly db: Queryable;
  readonly everyMs?: number;
}

/**
 * Which changes got rows, for any number of subscribers: from notifications, and from the newest rows while the process cannot listen
 * and once after it can again. A subscriber may hear of a change more than once.
 */
export function ledgerChanges({ notifications, db, everyMs = EVERY_MS }: LedgerChangesOptions): {
  subscribe(listener: (changeId: string) => void): () => void;
} {
  const listeners = new Set<(changeId: string) => void>();
  let stop: (() => void) | null = null;

  const tell = (changeId: string): void => {
    for (const listener of listeners) listener(changeId);
  };

  function start(): () => void {
    const unlisten = notifications.onEach(tell);
    let [checking, mayHaveMissed, last] = [false, true, 0];
    const check = async (): Promise<void> => {
      if (checking) return;
      checking = true;
      try {
        const listening = await notifications.isListening();
        if (mayHaveMissed || !listening) last = await tellNewest(db, last, tell);
        mayHaveMissed = !listening;
      } catch (error) {
        if (!isDatabaseDown(error)) throw error;
        mayHaveMissed = true; // The rows are read when the database is back.
      } finally {
        checking = false;
      }
    };
    const timer = setInterval(() => void check(), everyMs).unref();
    void check();
    return () => {
      unlisten();
      clearInterval(timer);
    };
  }

  return {
    subscribe(listener) {
      // Each subscription counts, also of a function that is subscribed twice.
      const own = (changeId: string): void => listener(changeId);
      listeners.add(own);
      stop ??= start();
      return () => {
        listeners.delete(own);
        if (listeners.size > 0) return;
        stop?.();
        stop = null;
      };
    },
  };
}

/** Tells the changes of the newest rows after `last`, of all of them if it is 0. Returns the number of the newest row. */
async function tellNewest(db: Queryable, last: number, tell: (changeId: string) => void): Promise<number> {
  const { rows } = await db.query<{ change_id: string; seq: string }>(
    `select change_id, max(seq)::text as seq from (select change_id, seq from ledger order by seq desc limit ${NEWEST_ROWS}) l
     where seq > $1 group by change_id`,
    [last],
    'inbox_newest',
  );
  for (const { change_id: changeId } of rows) tell(changeId);
  return Math.max(last, ...rows.map(({ seq }) => Number(seq)));
}
