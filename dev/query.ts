import { Client as PgClient } from 'pg';

/** Runs one query on a new connection. */
export async function query<R extends Record<string, unknown>>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<R[]> {
  const client = await openedClient(url);
  try {
    return (await client.query<R>(text, values.length === 0 ? undefined : [...values])).rows;
  } finally {
    await client.end();
  }
}

/** A connection that the caller ends. */
export async function openedClient(url: string): Promise<PgClient> {
  const client = new PgClient({ connectionString: url, connectionTimeoutMillis: 10_000, query_timeout: 600_000 });
  client.on('error', () => {}); // The query in flight fails with this error too.
  await client.connect();
  return client;
}
