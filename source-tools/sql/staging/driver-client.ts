/** Calls the driver of one connection to a target. Every wait is bounded. The caller decides what may be sent, and when (session.ts). */
import { Client, Query, type QueryConfig } from 'pg';
import type { DriverClient } from './kept-connections';
import { GRACE_MS } from './transaction-start';

export type Row = readonly (string | null)[];

export interface SqlQuery {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Called for each row. Without it rows are discarded. */
  readonly onRow?: (row: Row) => void;
}

/** `name` is that of a prepared statement. */
export type NamedQuery = SqlQuery & { readonly name?: string };

const asText = { getTypeParser: () => (value: string) => value } as unknown as NonNullable<QueryConfig['types']>;

export function newClient(url: string, name: string, connectTimeoutMs: number): DriverClient {
  const client = new Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  });
  // A running query rejects with the same error. Without a listener the error of an idle connection would crash the process.
  client.on('error', () => {});
  return client as DriverClient;
}

export function submit(client: Client, query: NamedQuery): Promise<{ command: string; rowCount: number }> {
  return new Promise((resolve, reject) => {
    const config = {
      name: query.name,
      text: query.text,
      values: [...(query.values ?? [])],
      rowMode: 'array',
      queryMode: 'extended',
      types: asText,
    };
    const submittable = new Query<string[]>(config as QueryConfig);
    // With a row listener the driver does not collect rows in memory.
    submittable.on('row', (row: unknown) => query.onRow?.(row as Row));
    submittable.on('error', reject);
    submittable.on('end', (result: { command: string | null; rowCount: number | null }) =>
      resolve({ command: result.command ?? '', rowCount: result.rowCount ?? 0 }),
    );
    client.query(submittable);
  });
}

export async function withLimit<T>(limitMs: number, abandon: () => Promise<void>, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      void abandon();
      reject(new Error(`no response within ${limitMs} ms`));
    }, limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** If the server does not end the connection in time, only the socket is closed. Never rejects. */
export async function closeConnection(client: DriverClient): Promise<void> {
  // On a connection with a running query `end` closes the socket, and the server then rolls back.
  const ended = client.end();
  const destroy = async (): Promise<void> => void client.connection.stream.destroy();
  await withLimit(GRACE_MS, destroy, ended).catch(() => undefined); // nothing more is sent on it
}

/** `pid` is the server process, which would otherwise finish its statement. Never rejects. */
export async function dropAndTerminate(
  client: DriverClient,
  server: { readonly url: string; readonly name: string },
  pid: string | null,
): Promise<void> {
  const ended = closeConnection(client);
  if (pid !== null) {
    const killer = newClient(server.url, `${server.name} (cancel)`, GRACE_MS);
    try {
      await killer.connect();
      await withLimit(
        GRACE_MS,
        () => killer.end(),
        submit(killer, { text: 'SELECT pg_catalog.pg_terminate_backend($1)', values: [pid] }),
      );
    } catch {
      // Best effort: statement_timeout and the idle timeout also terminate the server process.
    } finally {
      await closeConnection(killer);
    }
  }
  await ended;
}
