import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { INBOX_TABLES_SQL, INBOX_TRIGGER_SQL, TITLE_WORDS_SQL } from './inbox-sql';
import { APPEND_GRANTS, PUBLISHING_ROLES, ROLES, TABLE_GRANTS, type Role } from './roles';
import { PUBLISH_POLICY_SQL } from './publish-policy-sql';
import { retryRoleConflicts } from './role-conflict';
import { APPEND_SQL, OLDEST_SCHEMA_VERSION, SCHEMA_VERSION, TABLES_SQL, TRIGGERS_SQL } from './schema';

interface MigrateOptions {
  /** Password of each login role. For an omitted role, an existing one keeps its password and a missing one is created without. */
  readonly roles: Partial<Readonly<Record<Role, string>>>;
}

export const MIN_SERVER_VERSION = 160_000;

/**
 * Migrates the database of `adminUrl` to the current schema and creates one login role per process. Idempotent and safe to run
 * concurrently. Throws if the database has a newer schema or one that is too old, or if the role of `adminUrl` lacks a privilege.
 */
export async function migrate(adminUrl: string, { roles }: MigrateOptions): Promise<void> {
  const client = new Client({ connectionString: adminUrl, connectionTimeoutMillis: 10_000, query_timeout: 60_000 });
  // Why the connection was lost between two queries. The next query only reports that it has no connection.
  let lost: Error | null = null;
  client.on('error', (error) => (lost ??= error));
  try {
    await client.connect();
    await retryRoleConflicts(client, async () => {
      await migrateOnce(client, roles).catch((error: unknown) => {
        throw lost ?? error;
      });
    });
  } finally {
    await client.end();
  }
}

async function migrateOnce(client: Client, passwords: MigrateOptions['roles']): Promise<void> {
  await client.query('begin isolation level read committed');
  await client.query(`select pg_advisory_xact_lock(hashtextextended('countersign/migrate', 0))`);
  await assertServerVersion(client);
  await assertSchemaVersion(client);
  await client.query(TITLE_WORDS_SQL);
  await client.query(TABLES_SQL);
  await client.query(INBOX_TABLES_SQL);
  await client.query(TRIGGERS_SQL);
  await client.query(APPEND_SQL);
  await client.query(PUBLISH_POLICY_SQL);
  await client.query(INBOX_TRIGGER_SQL);
  await client.query('revoke create on schema public from public');
  for (const role of ROLES) await client.query(await roleSql(client, role, passwords[role]));
  await client.query('insert into schema_info (version) values ($1) on conflict do nothing', [SCHEMA_VERSION]);
  await client.query('commit');
}

/** The checks of ledger rows use `IS JSON`, which PostgreSQL has since version 16. */
async function assertServerVersion(client: Client): Promise<void> {
  const { rows } = await client.query<{ number: number; text: string }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as text`,
  );
  const [version] = rows;
  if (version !== undefined && version.number >= MIN_SERVER_VERSION) return;
  throw new Error(
    `The database of Countersign needs PostgreSQL 16 or later, and this server is ${version?.text ?? 'unknown'}; targets may be older`,
  );
}

async function assertSchemaVersion(client: Client): Promise<void> {
  const { rows } = await client.query<{ found: string | null }>(
    `select to_regclass('public.schema_info')::text as found`,
  );
  if (rows[0]?.found == null) return;
  const { rows: versions } = await client.query<{ version: number | null }>(
    'select max(version) as version from schema_info',
  );
  const version = versions[0]?.version ?? 0;
  if (version < OLDEST_SCHEMA_VERSION)
    throw new Error(
      `The database has schema version ${version}, and this Countersign upgrades versions from ${OLDEST_SCHEMA_VERSION} on; use a new database`,
    );
  if (version > SCHEMA_VERSION)
    throw new Error(
      `The database has schema version ${version}, but this Countersign supports at most ${SCHEMA_VERSION}; use a newer Countersign`,
    );
}

async function roleSql(client: Client, role: Role, password: string | undefined): Promise<string> {
  const name = escapeIdentifier(role);
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role]);
  const secret = password === undefined ? '' : ` password ${escapeLiteral(password)}`;
  const grants = Object.entries(TABLE_GRANTS[role]).map(
    ([table, rights]) => `grant ${rights.join(', ')} on ${table} to ${name};`,
  );
  return [
    rowCount === 0 ? `create role ${name} login${secret};` : secret === '' ? '' : `alter role ${name} login${secret};`,
    // All transactions of Countersign are short. A stuck one must not block a review.
    `alter role ${name} set statement_timeout = '15s'; alter role ${name} set lock_timeout = '10s'; alter role ${name} set idle_in_transaction_session_timeout = '15s';`,
    `revoke all on all tables in schema public from ${name};`,
    `grant usage on schema public to ${name};`,
    ...grants,
    functionSql(name, 'ledger_append', APPEND_GRANTS[role] !== undefined),
    functionSql(name, 'publish_policy', PUBLISHING_ROLES.includes(role)),
  ].join('\n');
}

function functionSql(role: string, name: string, granted: boolean): string {
  return granted ? `grant execute on function ${name} to ${role};` : `revoke all on function ${name} from ${role};`;
}
