import { migrate } from '../../storage/database/migrate';
import { openDatabase, type Database } from '../../storage/database/database';
import { ROLES, type Role } from '../../storage/database/roles';
import { query } from '../../dev/query';
import type { PostgresServer } from '../../dev/embedded/postgres';
import { live } from './live';
import { withAdvisoryLock } from './one-at-a-time';
import { testServer, uniqueDatabase } from './test-server';

// Longer than Jest's 5 s: starting a server takes a while on a busy machine.
jest.setTimeout(60_000);

export interface DatabaseOptions {
  /** Rows may have times that are far from the clock of the database. */
  readonly anyTime?: boolean;
}

/** A real PostgreSQL for one test file: start it in beforeAll, stop it in afterAll. */
export interface TestPostgres {
  readonly server: PostgresServer;
  /** A fresh database with our schema. */
  database(options?: DatabaseOptions): Promise<TestDatabase>;
  /** Closes all open pools. */
  closePools(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestDatabase {
  readonly name: string;
  readonly adminUrl: string;
  /** Connection string of a process's role. */
  url(role: Role): string;
  /** The pool of that role (`admin`: the superuser), the same for each call; closed by `TestPostgres.closePools` and `stop`. */
  open(role: Role | 'admin'): Database;
}

/** Removes the check of the time of ledger rows, for tests that set the clock. */
const ANY_TIME = `create or replace function time_problem(moment text, any_moment boolean) returns text language sql as 'select null'`;

const PASSWORD = 'only-for-tests';

/** The database that all others of a server are copies of: migrating takes several times as long as copying. */
const MIGRATED = 'countersign_migrated';

/** A PostgreSQL for the tests of a file or a block. `alone`: see {@link testServer}. */
export function usePostgres(alone = false): TestPostgres {
  let started: TestPostgres | undefined;
  beforeAll(async () => void (started = await startTestPostgres({ alone })));
  afterAll(() => started?.stop());
  return live(() => started);
}

/** One database for all tests of a file or a block. */
export function useDatabase(options: DatabaseOptions = {}, postgres = usePostgres()): TestDatabase {
  let made: TestDatabase | undefined;
  beforeAll(async () => void (made = await postgres.database(options)));
  return live(() => made);
}

/** A fresh database for each test of a file or a block. */
export function useFreshDatabase(options: DatabaseOptions = {}): TestDatabase {
  const postgres = usePostgres();
  let made: TestDatabase | undefined;
  beforeEach(async () => void (made = await postgres.database(options)));
  // The server has connections for all files that run at the same time, but not for the pools of all tests of a file.
  afterEach(() => postgres.closePools());
  return live(() => made);
}

/** `alone`: see {@link testServer}. */
export async function startTestPostgres({ alone = false } = {}): Promise<TestPostgres> {
  const server = await testServer(alone);
  /** By connection string. A pool for each call would use up the connections of the server. */
  const pools = new Map<string, Database>();
  let migrated: Promise<void> | undefined;
  const closePools = async (): Promise<void> => {
    const open = [...pools.values()];
    pools.clear();
    await Promise.all(open.map((pool) => pool.close()));
  };
  return {
    server,
    async database({ anyTime = false } = {}) {
      const name = uniqueDatabase('countersign');
      await (migrated ??= migratedDatabase(server));
      await query(server.superuserUrl('postgres'), `create database ${name} template ${MIGRATED} strategy file_copy`);
      const adminUrl = server.superuserUrl(name);
      if (anyTime) await query(adminUrl, ANY_TIME);
      const url = (role: Role): string => `postgresql://${role}:${PASSWORD}@127.0.0.1:${server.port}/${name}`;
      return {
        name,
        adminUrl,
        url,
        open(role) {
          const key = role === 'admin' ? adminUrl : url(role);
          const pool = pools.get(key) ?? openDatabase({ url: key, applicationName: 'test' });
          pools.set(key, pool);
          return pool;
        },
      };
    },
    closePools,
    async stop() {
      await closePools();
      await server.stop();
    },
  };
}

/** Several files may use the server at the same time, and a database can be copied only while it is complete and unused. */
async function migratedDatabase(server: PostgresServer): Promise<void> {
  const url = server.superuserUrl('postgres');
  await withAdvisoryLock(url, MIGRATED, async () => {
    // `createDatabase` would connect to it.
    if ((await query(url, `select from pg_database where datname = '${MIGRATED}'`)).length > 0) return;
    await server.createDatabase(MIGRATED);
    await migrate(server.superuserUrl(MIGRATED), {
      roles: Object.fromEntries(ROLES.map((role) => [role, PASSWORD])),
    });
  });
}
