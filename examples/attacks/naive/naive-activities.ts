import { Client } from 'pg';

/** Whoever polls the queue holds the target's credentials, and does what it is told. */
export function createNaiveActivities(targetUrl: string) {
  return {
    async apply(sql: string): Promise<void> {
      const client = new Client({ connectionString: targetUrl, connectionTimeoutMillis: 10_000 });
      await client.connect();
      try {
        await client.query(sql);
      } finally {
        await client.end();
      }
    },
  };
}
