/**
 * Connections to targets that stay open between two changes, so that the next one need not start a server process, log in, and load
 * the catalog.
 *
 * L1 Only session.ts decides which connection may be kept (S6) and resets it before. Here it is idle, and nothing is sent on it.
 * L2 A connection is used for changes that begin within {@link MAX_AGE_MS} of its login. So a role that may no longer log in, another
 *    password, and settings of the role or database take effect after this time at the latest.
 * L3 A change uses an idle connection if there is one. At most {@link MAX_IDLE} are idle for each URL.
 * L4 Idle connections do not keep the process alive. All are closed when the process stops using its targets.
 */
import type { Duplex } from 'node:stream';
import type { Client } from 'pg';

/** With members that the types of the driver lack. `processID` is that of the login; a pooler answers with its own number. */
export type DriverClient = Client & {
  readonly processID: number | null;
  readonly connection: { readonly stream: Duplex };
  ref(): void;
  unref(): void;
};

export interface Connection {
  readonly client: DriverClient;
  readonly url: string;
  /** `performance.now()` at the login. */
  readonly since: number;
  /** Whether the server process of each transaction is the one of the login. A pooler may use another one. */
  direct: boolean;
  /** Whether it was used, and nothing was sent since the reset. */
  isReset: boolean;
}

export const MAX_AGE_MS = 60_000;
/** As many as the changes that run on a target at the same time, by default. */
export const MAX_IDLE = 8;

interface Idle {
  readonly connection: Connection;
  readonly stopWaiting: () => void;
}

export class KeptConnections {
  #idle: Idle[] = [];

  constructor(readonly inUse: AbortSignal) {
    inUse.addEventListener('abort', () => {
      for (const { connection } of [...this.#idle]) this.#close(connection);
    });
  }

  /** The connection that was used last. */
  take(url: string): Connection | null {
    const found = this.#idle.findLast(({ connection }) => connection.url === url && ageOf(connection) < MAX_AGE_MS);
    if (found === undefined) return null;
    this.#remove(found.connection);
    found.connection.client.ref();
    return found.connection;
  }

  /** Keeps the connection, or closes it if it is too old, there are enough, or the targets are no longer used. */
  put(connection: Connection): void {
    const { client, url } = connection;
    const enough = this.#idle.filter((idle) => idle.connection.url === url).length >= MAX_IDLE;
    const close = (): void => this.#close(connection);
    const timer = setTimeout(close, MAX_AGE_MS - ageOf(connection));
    timer.unref();
    client.unref();
    client.once('end', close);
    const stopWaiting = (): void => {
      clearTimeout(timer);
      client.removeListener('end', close);
    };
    this.#idle.push({ connection, stopWaiting });
    if (enough || this.inUse.aborted || ageOf(connection) >= MAX_AGE_MS) close();
  }

  #close(connection: Connection): void {
    this.#remove(connection);
    connection.client.end().catch(() => undefined); // it is idle: nothing is lost with it
  }

  #remove(connection: Connection): void {
    this.#idle.find((idle) => idle.connection === connection)?.stopWaiting();
    this.#idle = this.#idle.filter((idle) => idle.connection !== connection);
  }
}

const all = new WeakMap<AbortSignal, KeptConnections>();

export function keptConnections(inUse: AbortSignal): KeptConnections {
  const found = all.get(inUse) ?? new KeptConnections(inUse);
  all.set(inUse, found);
  return found;
}

function ageOf({ since }: Connection): number {
  return performance.now() - since;
}
