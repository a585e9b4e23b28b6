/**
 * One fresh connection to a target, for one transaction.
 *
 * S1 Each statement of a diff is one extended-protocol message: the server refuses a second command in it, so text such as
 *    `UPDATE …; COMMIT; DELETE …` cannot leave the transaction.
 * S2 Every wait is bounded on both sides: by the server's time-outs, and by ours, after which the connection is dropped
 *    and the server's process ended, so that no lock outlives us.
 * S3 Values come back as the server's text: no parser of the driver rounds a number.
 */
import { Client, Query, type QueryConfig } from 'pg';
import type { SqlSettings } from './settings';

export type Row = readonly (string | null)[];

export interface SqlQuery {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Called for each row; without it rows are dropped unread. */
  readonly onRow?: (row: Row) => void;
}

export interface Session {
  /** Server's number such as 180004, and its words. */
  readonly versionNumber: number;
  readonly version: string;
  /** Runs one statement. `rowCount` is the command tag's, 0 where it has none. Rejects with the driver's error. */
  readonly run: (query: SqlQuery) => Promise<{ readonly command: string; readonly rowCount: number }>;
  readonly rows: (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;
  /** COMMIT. Resolves with the server's tag, which is `ROLLBACK` where the transaction had failed already. */
  readonly commit: () => Promise<string>;
  /** Rolls back if need be and closes. Never rejects: a connection that is gone has rolled back too. */
  readonly close: () => Promise<void>;
}

export interface SessionOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly settings: SqlSettings;
  readonly signal?: AbortSignal | undefined;
}

/** The server answers a time-out itself; this much later we no longer wait for it. */
const GRACE_MS = 2_000;
/** Post validators run while the transaction is idle; one that sleeps for longer, say since its process is stopped, is ended by the server. */
export const IDLE_MS = 15_000;
const asText = { getTypeParser: () => (value: string) => value } as unknown as NonNullable<QueryConfig['types']>;

/** Connects and begins the transaction. Rejects with the driver's error. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { url, settings, signal, applicationName } = options;
  if (isAborted(signal)) throw new Error('cancelled before it began');
  const client = newClient(url, applicationName, settings.connectTimeoutMs);
  const onAbort = (): void => void abandon();
  let pid: string | null = null;
  let abandoned: Promise<void> | null = null;
  // Dropping the socket is not enough: a server that computes would notice only at the end of the statement.
  const abandon = (): Promise<void> => (abandoned ??= dropAndTerminate(client, options, pid));

  const run = (query: SqlQuery, limitMs = settings.statementTimeoutMs + GRACE_MS) =>
    withLimit(limitMs, abandon, submit(client, query));
  const rows = async (text: string, values: readonly unknown[] = []): Promise<readonly Row[]> => {
    const out: Row[] = [];
    await run({ text, values, onRow: (row) => out.push(row) });
    return out;
  };

  await client.connect();
  signal?.addEventListener('abort', onAbort);
  let committed = false;
  const finish = async (): Promise<void> => {
    signal?.removeEventListener('abort', onAbort);
    if (abandoned !== null) return abandoned;
    // `end` on a connection whose query hangs drops the socket, and the server then rolls back.
    await client.end();
  };
  try {
    await withLimit(settings.connectTimeoutMs, abandon, client.query(beginText(settings)));
    const [row] = await rows(BOOT);
    pid = row?.[0] ?? null;
    if (isAborted(signal)) throw new Error('cancelled');
    return {
      versionNumber: Number(row?.[1]),
      version: row?.[2] ?? '',
      run: (query) => run(query),
      rows,
      commit: async () => {
        const { command } = await run({ text: 'COMMIT' });
        committed = true;
        return command;
      },
      close: async () => {
        try {
          if (abandoned === null && !committed)
            await withLimit(settings.connectTimeoutMs, abandon, submit(client, { text: 'ROLLBACK' }));
        } catch {
          // Expected where the connection is gone: the server has rolled back by that.
        }
        await finish();
      },
    };
  } catch (error) {
    await finish();
    throw error;
  }
}

/** Sent before anything of the diff. The numbers are checked integers. */
function beginText(s: SqlSettings): string {
  return [
    'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE',
    `SET LOCAL statement_timeout = ${s.statementTimeoutMs}`,
    `SET LOCAL lock_timeout = ${s.lockTimeoutMs}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MS}`,
    // The parser reads strings by this rule; a server that read them otherwise would run another statement.
    'SET LOCAL standard_conforming_strings = on',
    // An acknowledged effect must survive a crash of the target; a stronger setting stays.
    "SELECT pg_catalog.set_config('synchronous_commit', 'on', true) WHERE pg_catalog.current_setting('synchronous_commit') = 'off'",
    `SELECT pg_catalog.set_config('transaction_timeout', '${s.transactionTimeoutMs + IDLE_MS}', true) WHERE pg_catalog.current_setting('server_version_num')::int >= 170000`,
  ].join(';\n');
}

const BOOT = `SELECT pg_catalog.pg_backend_pid()::text, pg_catalog.current_setting('server_version_num'), pg_catalog.current_setting('server_version')`;

function newClient(url: string, applicationName: string, connectTimeoutMs: number): Client {
  const client = new Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  });
  // The query in flight fails with the same error; without a listener an idle connection's end would end the process.
  client.on('error', () => {});
  return client;
}

function submit(client: Client, query: SqlQuery): Promise<{ command: string; rowCount: number }> {
  return new Promise((resolve, reject) => {
    const config = {
      text: query.text,
      values: [...(query.values ?? [])],
      rowMode: 'array',
      queryMode: 'extended',
      types: asText,
    };
    const submittable = new Query<string[]>(config as QueryConfig);
    // A row listener keeps the driver from collecting rows in memory.
    submittable.on('row', (row: unknown) => query.onRow?.(row as Row));
    submittable.on('error', reject);
    submittable.on('end', (result: { command: string | null; rowCount: number | null }) =>
      resolve({ command: result.command ?? '', rowCount: result.rowCount ?? 0 }),
    );
    client.query(submittable);
  });
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

async function withLimit<T>(limitMs: number, abandon: () => Promise<void>, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      void abandon();
      reject(new Error(`no answer in ${limitMs} ms`));
    }, limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function dropAndTerminate(client: Client, options: SessionOptions, pid: string | null): Promise<void> {
  const ended = client.end().catch(() => undefined); // it is being given up: how it ends says nothing
  if (pid !== null) {
    const killer = newClient(options.url, `${options.applicationName} (cancel)`, GRACE_MS);
    try {
      await killer.connect();
      await withLimit(
        GRACE_MS,
        () => killer.end(),
        submit(killer, { text: 'SELECT pg_catalog.pg_terminate_backend($1)', values: [pid] }),
      );
    } catch {
      // Best effort: statement_timeout and the idle time-out end the server's process by themselves.
    } finally {
      await killer.end().catch(() => undefined);
    }
  }
  await ended;
}
