import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useExistingPostgres, startEmbeddedPostgres, type PostgresServer } from '../../dev/embedded/postgres';
import type { PostgresPackage } from '../../dev/embedded/postgres-binaries';
import { initialData } from './initial-data';
import { ownPostgres } from './older-postgres';

/** Set by the global set-up of the slow project: superuser URL of the server that its test files share. */
export const SHARED_SERVER = 'COUNTERSIGN_TEST_SHARED_POSTGRES';

/**
 * The PostgreSQL server that all slow test files share, or a server for one file: without durability. A file that changes
 * roles or server settings, or ends sessions of other files, requests a separate one (`alone`). Stopping the shared one is a no-op.
 */
export async function testServer(alone = false): Promise<PostgresServer> {
  const url = process.env[SHARED_SERVER];
  return !alone && url !== undefined ? useExistingPostgres(url, () => {}) : await startTestPostgres(ownPostgres());
}

/** A new server without durability; its data is removed when it stops. */
export async function startTestPostgres(postgres?: PostgresPackage): Promise<PostgresServer> {
  const stateDir = mkdtempSync(join(tmpdir(), 'countersign-pg-'));
  // The user that PostgreSQL runs as must be able to traverse it.
  chmodSync(stateDir, 0o711);
  await initialData(stateDir, postgres);
  const server = await startEmbeddedPostgres({ stateDir, say: () => {}, fast: true, postgres });
  return {
    ...server,
    async stop() {
      await server.stop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

let databases = 0;

/** A database name that no other test file of the run uses. */
export function uniqueDatabase(prefix: string): string {
  return `${prefix}_${process.pid}_${Date.now().toString(36)}_${++databases}`;
}
