import { Client as PgClient } from 'pg';

/** Runs one query on a new connection. */
export async function query<R extends Record<string, unknown>>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<R[]> {
  const client = new PgClient({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return (await client.query<R>(text, values.length === 0 ? undefined : [...values])).rows;
  } finally {
    await client.end();
  }
}
