import type { PostgresServer } from '../../dev/embedded/postgres';
import { SHARED_SERVER, testServer } from './test-server';

/** One PostgreSQL for all slow test files of a run; each file creates its own databases. */
export default async function slowSetup(): Promise<void> {
  const server = await testServer(true);
  (globalThis as { countersignPostgres?: PostgresServer }).countersignPostgres = server;
  process.env[SHARED_SERVER] = server.superuserUrl('postgres');
}
