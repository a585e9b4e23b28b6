import type { PostgresServer } from '../../dev/embedded/postgres';

export default async function slowTeardown(): Promise<void> {
  await (globalThis as { countersignPostgres?: PostgresServer }).countersignPostgres?.stop();
}
