import { CountersignFailure } from '../../policy/contracts/failure';
import { Pool, type PoolClient, type QueryResult, type QueryResultRow } from 'pg';
import { FailureType } from '../../policy/contracts/failure-type';

interface DatabaseOptions {
  /** Connection string of the login role of the process. Never logged. */
  readonly url: string;
  /** Name of the process, shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Maximum number of connections. Default 10. */
  readonly max?: number;
  readonly connectTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
}

type Values = readonly unknown[];

export interface Queryable {
  /** `name` makes it a prepared statement, so the server can cache its plan. For statements that run often. */
  query<R extends QueryResultRow>(text: string, values?: Values, name?: string): Promise<QueryResult<R>>;
}

/**
 * A bounded connection pool. Throws STORE_UNAVAILABLE (retryable) if the database is unreachable, busy or too slow, and other errors
 * unchanged.
 */
export interface Database extends Queryable {
  /** Runs `work` in a transaction on one connection. Rolls back if it throws, and throws if a statement failed. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Runs `work` with a database that is closed afterwards. */
export async function withDatabase<T>(options: DatabaseOptions, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase(options);
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

/**
 * The first probe on an idle connection. By default it follows after two hours on Linux, while firewalls and load balancers drop idle
 * connections after minutes, and a server that has vanished sends nothing.
 */
export const KEEP_ALIVE_MS = 10_000;

/** Connects with the first query, so a process may start before its database. */
export function openDatabase(options: DatabaseOptions): Database {
  const statementTimeoutMs = options.statementTimeoutMs ?? 10_000;
  const pool = new Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.max ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    statement_timeout: statementTimeoutMs,
    // statement_timeout ends slow statements on the server. This ends the wait for a server that no longer responds.
    query_timeout: statementTimeoutMs + 2_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  });
  // The pool itself listens only while a connection is idle. Without this listener, an error between two queries of a transaction, or in
  // the packet that ends the login, would crash the process. The next query of the connection reports the loss.
  pool.on('connect', (client) => void client.on('error', () => {}));
  pool.on('error', () => {}); // An idle connection failed. The pool has removed it, and the next query reports an unreachable database.

  /** A connection on which `discard` was called is closed, and not used again. */
  async function withClient<T>(work: (client: PoolClient, discard: (why: Error) => void) => Promise<T>): Promise<T> {
    try {
      const client = await pool.connect();
      let lost: Error | undefined;
      try {
        return await work(client, (why) => (lost = why));
      } catch (error) {
        if (isUnavailable(error)) lost = error as Error;
        throw error;
      } finally {
        client.release(lost);
      }
    } catch (error) {
      throw toFailure(error);
    }
  }

  return {
    query: (text, values, name) => withClient((client) => run(client, text, values, name)),
    transaction: (work) =>
      withClient(async (client, discard) => {
        // Under a lock, a statement must see what its earlier holders committed, whatever the server or role defaults to.
        await client.query('begin isolation level read committed');
        try {
          const result = await work({ query: (text, values, name) => run(client, text, values, name) });
          const { command } = await client.query('commit');
          // PostgreSQL reports no error for a transaction of which a statement failed.
          if (command !== 'COMMIT') throw new Error('A statement of the transaction failed, so it was rolled back');
          return result;
        } catch (error) {
          // If that fails, the transaction may still be open, and the original error is the one to report.
          await client.query('rollback').catch(discard);
          throw error;
        }
      }),
    close: () => pool.end(),
  };
}

function run<R extends QueryResultRow>(
  client: PoolClient,
  text: string,
  values: Values = [],
  name?: string,
): Promise<QueryResult<R>> {
  return client.query<R>({ text, values: [...values], ...(name === undefined ? {} : { name }) });
}

function toFailure(error: unknown): unknown {
  if (error instanceof CountersignFailure || !isUnavailable(error)) return error;
  const { code, message } = error as { code?: string; message: string };
  return new CountersignFailure({
    message: `The Countersign database is not available: ${message}${code === undefined ? '' : ` (${code})`}`,
    type: FailureType.Store,
    nonRetryable: false,
    cause: error,
  });
}

/**
 * Retryable codes: 08 connection, 53 resources, 57P shutdown, 40 serialization and deadlock, 55P03 lock timeout, 57014 statement timeout,
 * 25P03 and 25P04 a transaction that was idle or ran for too long, 25006 a server that became a standby. With a name in the URL that
 * follows the primary, another connection can reach the new one.
 */
const UNAVAILABLE_CODES =
  /^(08...|53...|57P0.|40...|55P03|57014|25P0[34]|25006|ECONN.*|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
const UNAVAILABLE_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error',
  'not queryable',
  'Cannot use a pool after',
];

function isUnavailable(error: unknown): boolean {
  // Duck typing, because an error of Node may come from another realm. An AggregateError of several addresses has the code of the first.
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && UNAVAILABLE_CODES.test(code)) return true;
  return typeof message === 'string' && UNAVAILABLE_MESSAGES.some((text) => message.includes(text));
}

/**
 * The clock of the database. Deadlines are measured with it, because a row of one process is compared with rows of others, whose clocks
 * can differ.
 */
export function databaseClock(db: Queryable): () => Promise<Date> {
  return async () => {
    const { rows } = await db.query<{ now: Date }>('select clock_timestamp() as now', [], 'database_clock');
    const [row] = rows;
    if (row === undefined) throw new Error('The database returned no time');
    return row.now;
  };
}
