import { Client } from 'pg';

/** Runs one at a time across test files and processes, by an advisory lock of the server that all system tests share. */
export const oneAtATime = <T>(what: string, work: () => Promise<T>): Promise<T> =>
  withAdvisoryLock(process.env['COUNTERSIGN_TEST_POSTGRES'] ?? '', what, work);

export async function withAdvisoryLock<T>(url: string, what: string, work: () => Promise<T>): Promise<T> {
  const pg = new Client({ connectionString: url });
  await pg.connect();
  try {
    await pg.query('select pg_advisory_lock(hashtext($1))', [`countersign test: ${what}`]);
    return await work();
  } finally {
    await pg.end();
  }
}
