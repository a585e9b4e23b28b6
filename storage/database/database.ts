import { CountersignFailure } from '../../policy/contracts/failure';
import { Pool, type PoolClient, type QueryResult, type QueryResultRow } from 'pg';
import { FailureType } from '../../policy/contracts/failure-type';

export interface DatabaseOptions {
  /** Connection string of a role with the rights of the process. Never logged. */
  readonly url: string;
  /** Shown in pg_stat_activity: the process's name. */
  readonly applicationName: string;
  /** Connections at most. */
  readonly max?: number;
  readonly connectTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
}

type Values = readonly unknown[];

export interface Queryable {
  /** `name` lets the server keep the plan: for statements that run often. */
  query<R extends QueryResultRow>(text: string, values?: Values, name?: string): Promise<QueryResult<R>>;
}

/** A bounded pool. Whatever says that the database is away, busy or too slow is thrown as STORE_UNAVAILABLE, retryable; all else as it is. */
export interface Database extends Queryable {
  /** BEGIN … COMMIT on one connection; rolls back when `work` throws. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Connects at the first query, so a process may start before its database. */
export function openDatabase(options: DatabaseOptions): Database {
  const statementTimeoutMs = options.statementTimeoutMs ?? 10_000;
  const pool = new Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.max ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    statement_timeout: statementTimeoutMs,
    // The server ends a slow statement itself; this ends the wait for a server that says nothing any more.
    query_timeout: statementTimeoutMs + 2_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  });
  pool.on('error', () => {}); // An idle connection died; the pool has dropped it, and the next query reports a database that is away.

  async function withClient<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    try {
      const client = await pool.connect();
      let lost: Error | undefined;
      // The pool listens to idle clients only: one that dies between two queries of a transaction would end the process.
      const onLost = (error: Error): void => void (lost = error);
      client.on('error', onLost);
      try {
        return await work(client);
      } catch (error) {
        if (isAway(error)) lost = error as Error;
        throw error;
      } finally {
        client.off('error', onLost);
        client.release(lost);
      }
    } catch (error) {
      throw toFailure(error);
    }
  }

  return {
    query: (text, values, name) => withClient((client) => run(client, text, values, name)),
    transaction: (work) =>
      withClient(async (client) => {
        await client.query('begin');
        try {
          const result = await work({ query: (text, values, name) => run(client, text, values, name) });
          await client.query('commit');
          return result;
        } catch (error) {
          // A connection that is gone has rolled back already; its failure is the one to report.
          await client.query('rollback').catch(() => {});
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
  if (error instanceof CountersignFailure || !isAway(error)) return error;
  const { code, message } = error as { code?: string; message: string };
  return new CountersignFailure({
    message: `The Countersign database is not available: ${message}${code === undefined ? '' : ` (${code})`}`,
    type: FailureType.Store,
    nonRetryable: false,
    cause: error,
  });
}

/** 08 connection, 53 resources, 57P shutdown; 40 serialization and deadlock, 55P03 lock and 57014 statement timeout: trying again helps. */
const AWAY_CODES =
  /^(08...|53...|57P0.|40...|55P03|57014|ECONN.*|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
const AWAY_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error',
  'not queryable',
  'Cannot use a pool after',
];

function isAway(error: unknown): boolean {
  // By shape: an error of Node's own may come from another realm. Where several addresses were tried, the code is that of the first.
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && AWAY_CODES.test(code)) return true;
  return typeof message === 'string' && AWAY_MESSAGES.some((text) => message.includes(text));
}
