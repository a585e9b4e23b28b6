import { mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../storage/database/migrate';
import { openDatabase, type Database } from '../../storage/database/database';
import { ROLES, type Role } from '../../storage/database/roles';
import { startEmbeddedPostgres, type PostgresServer } from '../../dev/embedded/postgres';

// Whoever starts a server needs longer than Jest's 5 s when the machine is busy.
jest.setTimeout(60_000);

/** A real PostgreSQL for one test file, without durability: start it in beforeAll, stop it in afterAll. */
export interface TestPostgres {
  readonly server: PostgresServer;
  /** A fresh database with our schema. */
  database(): Promise<TestDatabase>;
  stop(): Promise<void>;
}

export interface TestDatabase {
  readonly name: string;
  readonly adminUrl: string;
  /** Connection string of a process's role. */
  url(role: Role): string;
  /** An open pool as that role (`admin`: the superuser); closed by `TestPostgres.stop`. */
  open(role: Role | 'admin'): Database;
}

const PASSWORD = 'only-for-tests';

export async function startTestPostgres(): Promise<TestPostgres> {
  const stateDir = mkdtempSync(join(tmpdir(), 'countersign-pg-'));
  chmodSync(stateDir, 0o711);
  const server = await startEmbeddedPostgres({ stateDir, say: () => {}, fast: true });
  const open: Database[] = [];
  let databases = 0;
  return {
    server,
    async database() {
      const name = `countersign_${++databases}`;
      await server.createDatabase(name);
      const adminUrl = server.superuserUrl(name);
      await migrate(adminUrl, { roles: Object.fromEntries(ROLES.map((role) => [role, PASSWORD])) });
      const url = (role: Role): string => `postgresql://${role}:${PASSWORD}@127.0.0.1:${server.port}/${name}`;
      return {
        name,
        adminUrl,
        url,
        open(role) {
          const database = openDatabase({ url: role === 'admin' ? adminUrl : url(role), applicationName: 'test' });
          open.push(database);
          return database;
        },
      };
    },
    async stop() {
      await Promise.all(open.map((database) => database.close()));
      await server.stop();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
