import { isDatabaseDown } from '../database/database-down';
import type { Queryable } from '../database/database';
import type { LedgerNotifications } from '../ledger/notifications';

const EVERY_MS = 1_000;
/** Newest rows that are looked at, when rows may have been missed. */
const NEWEST_ROWS = 500;
/** A transaction with a lower number may commit later, so a new connection looks at some rows again. */
const OVERLAP_ROWS = 50;

interface LedgerChangesOptions {
  readonly notifications: Pick<LedgerNotifications, 'onEach' | 'connection'>;
  readonly db: Queryable;
  readonly everyMs?: number;
}

/** Notifies of changes that got ledger rows. */
export interface LedgerChanges {
  /** `listener` gets the id of each change that got rows, perhaps more than once. Returns the function that ends it. */
  subscribe(listener: (changeId: string) => void): () => void;
}

/**
 * Which changes got rows, for any number of subscribers: from notifications, and from the newest rows while the process cannot listen
 * and once with each new connection. A subscriber may be called more than once for a change.
 */
export function ledgerChanges({ notifications, db, everyMs = EVERY_MS }: LedgerChangesOptions): LedgerChanges {
  const listeners = new Set<(changeId: string) => void>();
  let stop: (() => void) | null = null;

  const tell = (changeId: string): void => {
    for (const listener of listeners) listener(changeId);
  };

  function start(): () => void {
    const unlisten = notifications.onEach(tell);
    let checking = false;
    /** Number of the newest row that was looked at; null before the first check, which notifies of nothing, since no row was missed yet. */
    let last: number | null = null;
    /** The connection during which no row was missed; null while the process cannot listen. */
    let complete: number | null = null;
    const check = async (): Promise<void> => {
      if (checking) return;
      checking = true;
      try {
        const connection = await notifications.connection();
        if (connection === null || connection !== complete)
          last = await tellNewest(db, last, connection === null ? 0 : OVERLAP_ROWS, tell);
        complete = connection;
      } catch (error) {
        if (!isDatabaseDown(error)) throw error; // A defect, such as a missing right: the rejection ends the process.
        complete = null; // The rows are read when the database is back.
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

/** Calls `tell` for the changes of the newest rows after `last`; for none if it is null. Returns the number of the newest row. */
async function tellNewest(
  db: Queryable,
  last: number | null,
  overlap: number,
  tell: (changeId: string) => void,
): Promise<number> {
  const { rows } = await db.query<{ change_id: string; seq: string }>(
    `select change_id, max(seq)::text as seq from (select change_id, seq from ledger order by seq desc limit ${NEWEST_ROWS}) l
     where seq > $1 group by change_id`,
    [last === null ? 0 : last - overlap],
    'inbox_newest',
  );
  if (last !== null) for (const { change_id: changeId } of rows) tell(changeId);
  return Math.max(last ?? 0, ...rows.map(({ seq }) => Number(seq)));
}
