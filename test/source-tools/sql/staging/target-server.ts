import { eventually } from '../../../support/eventually';
import { RUN_ALL } from '../../../support/extent';
import { Client } from 'pg';
import { initTarget } from '../../../../source-tools/sql/staging/init-target';
import type { PostgresServer } from '../../../../dev/embedded/postgres';
import { live } from '../../../support/live';
import { IS_OLDER_REQUIRED, olderPostgres } from '../../../support/older-postgres';
import { startTestPostgres, testServer, uniqueDatabase } from '../../../support/test-server';

export const TARGET_ROLES = { stageRole: 'countersign_stage', commitRole: 'countersign_commit' } as const;
const PASSWORDS = { stage: 'stage-password', commit: 'commit-password' };

// Starting a server takes a while on a busy machine.
jest.setTimeout(60_000);
const started: Promise<TargetServer>[] = [];

/** Call it in each test file, outside of hooks: a server whose start outlives its hook must be stopped too. */
export function stopTargetServersAtEnd(): void {
  afterAll(async () => {
    for (const server of started.splice(0)) await server.then((s) => s.stop()).catch(() => undefined);
  });
}

/** A database that is set up as a target, on a real PostgreSQL. */
export interface TargetServer {
  readonly server: PostgresServer;
  readonly adminUrl: string;
  readonly stageUrl: string;
  readonly commitUrl: string;
  /** One statement or script as superuser; rows as objects. */
  readonly admin: (sql: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
  /** MD5 of all rows of a table, ordered by their text. */
  readonly checksum: (table: string) => Promise<string>;
  /** Waits until the query has a row. */
  readonly until: (sql: string) => Promise<void>;
  /** Runs `initTarget` again, for tables created since. */
  readonly grant: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** For one test file; closed after it. `alone`: see {@link testServer}. */
export function startTargetServer({ alone = false } = {}): Promise<TargetServer> {
  return remembered(testServer(alone).then(start));
}

/** A target with these tables for the tests of a file or a block. `alone`: see {@link testServer}. */
export function useTarget(tables: string, { alone = false } = {}): TargetServer {
  stopTargetServersAtEnd();
  return targetWith(tables, () => startTargetServer({ alone }));
}

function targetWith(tables: string, start: () => Promise<TargetServer>): TargetServer {
  let started: TargetServer | undefined;
  beforeAll(async () => {
    started = await start();
    await started.admin(tables);
    await started.grant();
  });
  return live(() => started);
}

type Tests = (use: (tables: string) => TargetServer, major: number) => void;

/**
 * Runs the tests on a PostgreSQL 18 for them alone (see {@link testServer}) and, if all tests run or it is required, on each older one
 * that is installed. `use` makes the target. `major` is for what differs.
 */
export function onEachServer(tests: Tests): void {
  runOnEach(tests, true);
}

/** The same on the PostgreSQL 18 that test files share. */
export function onEachSharedServer(tests: Tests): void {
  runOnEach(tests, false);
}

function runOnEach(tests: Tests, alone: boolean): void {
  stopTargetServersAtEnd();
  const on = (name: string, major: number, start: () => Promise<TargetServer>): void =>
    describe(name, () => tests((tables) => targetWith(tables, start), major));
  on('on PostgreSQL 18', 18, () => startTargetServer({ alone }));
  if (!RUN_ALL && !IS_OLDER_REQUIRED) return;
  const older = olderPostgres();
  if (older.size === 0)
    describe('on PostgreSQL 14 to 17', () => it.skip('is installed by .ci/install postgresql', () => {}));
  for (const [major, postgres] of older)
    on(`on PostgreSQL ${major}`, major, () => remembered(startTestPostgres(postgres).then(start)));
}

function remembered(server: Promise<TargetServer>): Promise<TargetServer> {
  started.push(server);
  return server;
}

async function start(server: PostgresServer): Promise<TargetServer> {
  const name = uniqueDatabase('shop');
  await server.createDatabase(name);
  const adminUrl = server.superuserUrl(name);
  const as = (user: string, password: string): string =>
    Object.assign(new URL(adminUrl), { username: user, password }).href;
  const client = new Client({ connectionString: adminUrl });
  client.on('error', () => {});
  await client.connect();
  const admin = async (sql: string, values: readonly unknown[] = []) =>
    (await client.query<Record<string, unknown>>(sql, [...values])).rows;
  const grant = async (): Promise<void> => {
    await initTarget(adminUrl, { ...TARGET_ROLES, passwords: PASSWORDS, schemas: ['public'] });
  };
  await grant();
  return {
    server,
    adminUrl,
    stageUrl: as(TARGET_ROLES.stageRole, PASSWORDS.stage),
    commitUrl: as(TARGET_ROLES.commitRole, PASSWORDS.commit),
    admin,
    checksum: async (table) =>
      String(
        (
          await admin(`SELECT md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '')) AS sum FROM ${table} t`)
        )[0]?.['sum'],
      ),
    until: (sql) => eventually(`a row of ${sql}`, async () => (await admin(sql)).length > 0, { withinMs: 30_000 }),
    grant,
    stop: async () => {
      await client.end().catch(() => undefined);
      await server.stop();
    },
  };
}
