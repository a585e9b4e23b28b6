import { eventually } from '../../../support/eventually';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { initTarget } from '../../../../source-tools/sql/staging/init-target';
import { startEmbeddedPostgres, type PostgresServer } from '../../../../dev/embedded/postgres';

const PASSWORDS = { stage: 'stage-password', commit: 'commit-password' };

// A server of its own takes a while to start on a busy machine.
jest.setTimeout(60_000);
const started: Promise<TargetServer>[] = [];
// Here, not in each test file: a server whose start outlives its hook must be stopped too.
afterAll(async () => {
  for (const server of started) await server.then((s) => s.stop()).catch(() => undefined);
});

/** A PostgreSQL of its own with a database that is set up as a target. */
export interface TargetServer {
  readonly server: PostgresServer;
  readonly adminUrl: string;
  readonly stageUrl: string;
  readonly commitUrl: string;
  /** One statement or script as superuser; rows as objects. */
  readonly admin: (sql: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;
  /** MD5 over all rows of a table, in the order of their text. */
  readonly checksum: (table: string) => Promise<string>;
  /** Waits until the query has a row. */
  readonly until: (sql: string) => Promise<void>;
  /** Grants what was made since. */
  readonly grant: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Started for one test file, and stopped after it. */
export function startTargetServer(): Promise<TargetServer> {
  const server = start();
  started.push(server);
  return server;
}

async function start(): Promise<TargetServer> {
  const stateDir = mkdtempSync(join(tmpdir(), 'countersign-target-'));
  // Passable for the user that PostgreSQL runs as.
  chmodSync(stateDir, 0o711);
  const server = await startEmbeddedPostgres({ stateDir, say: () => {}, fast: true });
  await server.createDatabase('shop');
  const adminUrl = server.superuserUrl('shop');
  const as = (user: string, password: string): string =>
    Object.assign(new URL(adminUrl), { username: user, password }).href;
  const client = new Client({ connectionString: adminUrl });
  client.on('error', () => {});
  await client.connect();
  const admin = async (sql: string, values: readonly unknown[] = []) =>
    (await client.query<Record<string, unknown>>(sql, [...values])).rows;
  const grant = async (): Promise<void> => {
    await initTarget(adminUrl, { passwords: PASSWORDS, grants: { schemas: ['public'] } });
  };
  await grant();
  return {
    server,
    adminUrl,
    stageUrl: as('countersign_stage', PASSWORDS.stage),
    commitUrl: as('countersign_commit', PASSWORDS.commit),
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
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
