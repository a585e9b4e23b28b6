import { Client } from 'pg';
import { KEEP_ALIVE_MS } from '../database/database';
import { LEDGER_CHANNEL } from '../database/schema';

/** Follows the rows of one change. */
interface LedgerWatch {
  /** Resolves when rows may have been appended since the last call, or after `timeoutMs`. The caller reads again in both cases. */
  next(timeoutMs: number): Promise<void>;
  /** A `next` that waits resolves. */
  close(): void;
}

export interface LedgerNotifications {
  /** Resolves when the process listens, or cannot: then `next` waits for its time-out. Call it before the first read. */
  watch(changeId: string): Promise<LedgerWatch>;
  /** Calls `listener` with the id of each change that gets rows, while the process listens. Returns the function that ends it. */
  onEach(listener: (changeId: string) => void): () => void;
  /** Connects if the process does not listen. The number of its connection, which grows with each; null if it cannot listen now. */
  connection(): Promise<number | null>;
  close(): Promise<void>;
}

/** After a failed connection no other is tried for this long. */
const RETRY_MS = 2_000;
const CONNECT_MS = 5_000;

/**
 * One LISTEN connection for the whole process, opened with the first watch. A notification has no authority: a caller that it wakes
 * reads the rows. If the connection is lost, every watch is woken, the next call of `next` connects again, and then every watch is woken
 * once more.
 */
export function ledgerNotifications(options: NotificationOptions): LedgerNotifications {
  return new Listener(options);
}

interface NotificationOptions {
  readonly url: string;
  readonly applicationName: string;
}

class Listener implements LedgerNotifications {
  readonly #wakers = new Map<string, Set<() => void>>();
  readonly #listeners = new Set<(changeId: string) => void>();
  #listening: Promise<Client | null> | null = null;
  #failedAt = -Infinity;
  #connections = 0;
  #closed = false;

  constructor(private readonly options: NotificationOptions) {}

  async watch(changeId: string): Promise<LedgerWatch> {
    const wakers = this.#wakers.get(changeId) ?? new Set();
    const watch = new Watch(
      () => this.#listen(),
      () => {
        wakers.delete(watch.wake);
        if (wakers.size === 0 && this.#wakers.get(changeId) === wakers) this.#wakers.delete(changeId);
        watch.wake();
      },
    );
    this.#wakers.set(changeId, wakers.add(watch.wake));
    await this.#listen();
    return watch;
  }

  onEach(listener: (changeId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async connection(): Promise<number | null> {
    await this.#listen();
    const client = await this.#listening;
    return client === null || this.#closed ? null : this.#connections;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#wakeAll();
    await (await this.#listening)?.end().catch(() => {}); // closing a lost connection fails; its state no longer matters
  }

  async #listen(): Promise<void> {
    if (this.#closed || (this.#listening === null && performance.now() - this.#failedAt < RETRY_MS)) return;
    await (this.#listening ??= this.#connect());
  }

  async #connect(): Promise<Client | null> {
    const client = new Client({
      connectionString: this.options.url,
      application_name: `${this.options.applicationName}-listen`,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    });
    let connected = false;
    const lost = (): void => {
      if (this.#closed || !connected) return;
      connected = false;
      this.#listening = null;
      this.#wakeAll();
    };
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload = '' }) => {
      for (const wake of this.#wakers.get(payload) ?? []) wake();
      for (const listener of this.#listeners) listener(payload);
    });
    try {
      await client.connect();
      await client.query(`listen ${LEDGER_CHANNEL}`);
      connected = true;
      // Rows may have been appended after a caller last read and before this connection listened.
      if (++this.#connections > 1) this.#wakeAll();
      return client;
    } catch {
      // Watches fall back to reading again after their time-outs; a read reports that the database is not available.
      this.#failedAt = performance.now();
      this.#listening = null;
      await client.end().catch(() => {}); // it may never have been connected
      return null;
    }
  }

  #wakeAll(): void {
    for (const wakers of this.#wakers.values()) for (const wake of wakers) wake();
  }
}

class Watch implements LedgerWatch {
  #pending = false;
  #wakeWaiter: (() => void) | null = null;

  constructor(
    private readonly listen: () => Promise<void>,
    readonly close: () => void,
  ) {}

  readonly wake = (): void => {
    this.#pending = true;
    this.#wakeWaiter?.();
  };

  async next(timeoutMs: number): Promise<void> {
    if (!this.#pending) await this.listen();
    if (!this.#pending) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#wakeWaiter = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wakeWaiter = null;
    }
    this.#pending = false;
  }
}
