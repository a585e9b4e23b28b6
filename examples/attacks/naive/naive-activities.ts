import { Client } from 'pg';

/** The worker has the target's credentials and executes any SQL that the workflow passes. */
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
