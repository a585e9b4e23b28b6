import { Client } from 'pg';
import { LEDGER_CHANNEL } from '../database/schema';

/** Follows the rows of one change. */
export interface LedgerWatch {
  /** Resolves when rows may have been appended since the last call, or after `timeoutMs`. The caller reads again in both cases. */
  next(timeoutMs: number): Promise<void>;
  close(): void;
}

export interface LedgerNotifications {
  /** Resolves when the process listens, or cannot: then `next` waits for its time-out. Call it before the first read. */
  watch(changeId: string): Promise<LedgerWatch>;
  close(): Promise<void>;
}

/** After a failed connection no other is tried for this long. */
const RETRY_MS = 2_000;
const CONNECT_MS = 5_000;

/**
 * One LISTEN connection for the whole process, opened with the first watch. A notification has no authority: whoever is woken
 * reads the rows. If the connection is lost, every watch is woken, and the next call of `next` connects again.
 */
export function ledgerNotifications(options: {
  readonly url: string;
  readonly applicationName: string;
}): LedgerNotifications {
  const wakers = new Map<string, Set<() => void>>();
  let listening: Promise<Client | null> | null = null;
  let failedAt = 0;
  let closed = false;

  const wakeAll = (): void => {
    for (const set of wakers.values()) for (const wake of set) wake();
  };

  async function connect(): Promise<Client | null> {
    const client = new Client({
      connectionString: options.url,
      application_name: `${options.applicationName}-listen`,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
    });
    let connected = false;
    const lost = (): void => {
      if (closed || !connected) return;
      connected = false;
      listening = null;
      wakeAll();
    };
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload }) => {
      for (const wake of wakers.get(payload ?? '') ?? []) wake();
    });
    try {
      await client.connect();
      await client.query(`listen ${LEDGER_CHANNEL}`);
      connected = true;
      return client;
    } catch {
      // Watches fall back to reading again after their time-outs; a read reports that the database is not available.
      failedAt = Date.now();
      listening = null;
      await client.end().catch(() => {});
      return null;
    }
  }

  async function listen(): Promise<void> {
    if (closed || (listening === null && Date.now() - failedAt < RETRY_MS)) return;
    await (listening ??= connect());
  }

  return {
    async watch(changeId) {
      let pending = false;
      let wakeWaiter: (() => void) | null = null;
      const wake = (): void => {
        pending = true;
        wakeWaiter?.();
      };
      const set = wakers.get(changeId) ?? new Set();
      wakers.set(changeId, set.add(wake));
      await listen();
      return {
        async next(timeoutMs) {
          if (!pending) {
            await listen();
            await new Promise<void>((resolve) => {
              const timer = setTimeout(resolve, timeoutMs);
              wakeWaiter = () => (clearTimeout(timer), resolve());
              if (pending) wakeWaiter();
            });
          }
          wakeWaiter = null;
          pending = false;
        },
        close() {
          set.delete(wake);
          if (set.size === 0 && wakers.get(changeId) === set) wakers.delete(changeId);
        },
      };
    },
    async close() {
      closed = true;
      wakeAll();
      await (await listening)?.end().catch(() => {});
    },
  };
}
