import { Client } from 'pg';
import type { TargetLine } from '../../target-line';
import { OLD_NEW_VERSION, OLDEST_VERSION } from './returning';
import { toSqlFailure } from './sql-failure';

const CONNECT_MS = 5_000;
const MAX_NAMES = 10;

/** Checks a target with one of the two roles. Never throws because of the target: each problem is a line. */
export async function describeTarget(url: string, purpose: 'stage' | 'commit'): Promise<readonly TargetLine[]> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: 30_000,
    application_name: 'countersign doctor',
  });
  client.on('error', () => {}); // a running query rejects with the same error
  try {
    await client.connect();
    return await describe(client, purpose);
  } catch (error) {
    return [{ level: 'fail', text: toSqlFailure(error, `${purpose} role`).explanation }];
  } finally {
    await client.end().catch(() => undefined); // the error was already reported
  }
}

async function describe(client: Client, purpose: 'stage' | 'commit'): Promise<readonly TargetLine[]> {
  const one = async <T extends object>(sql: string): Promise<T | undefined> => (await client.query<T>(sql)).rows[0];
  const names = async (sql: string): Promise<readonly string[]> =>
    (await client.query<{ name: string }>(sql)).rows.map((r) => r.name);
  const about = await one<About>(ABOUT);
  if (about === undefined) throw new Error('The server did not return its version and role');
  const lines: TargetLine[] = [];
  const add = (level: TargetLine['level'], text: string): void => void lines.push({ level, text });
  const list = (level: TargetLine['level'], what: string, found: readonly string[]): void => {
    if (found.length === 0) return;
    const more = found.length > MAX_NAMES ? ` and ${found.length - MAX_NAMES} more` : '';
    add(level, `${what}: ${found.slice(0, MAX_NAMES).join(', ')}${more}`);
  };

  if (about.number >= OLD_NEW_VERSION) add('ok', `PostgreSQL ${about.version}`);
  else if (about.number < OLDEST_VERSION) add('fail', `PostgreSQL ${about.version} is too old: 14 or later is needed`);
  else {
    add(
      'warn',
      `PostgreSQL ${about.version} has no OLD and NEW in RETURNING: MERGE and INSERT … ON CONFLICT DO UPDATE cannot be captured and need a human confirmation (18 or later captures them)`,
    );
  }
  if (about.privileged)
    add(
      'fail',
      `role ${about.role} is a superuser or can create roles or databases; use the role created by "countersign target init"`,
    );
  if (!about.counts) add('fail', 'track_counts is off: side effects cannot be counted');
  list('fail', `role ${about.role} is a member of other roles and has their privileges`, await names(MEMBERSHIPS));
  list('fail', `role ${about.role} can access data outside the database with`, await names(OUTSIDE));
  list('warn', `role ${about.role} can create objects in schemas`, await names(CREATABLE));
  if (purpose === 'commit') {
    if (about.marker === null)
      add('fail', 'the marker table is missing or not accessible; run "countersign target init"');
    else if (!about.marker)
      add('fail', `role ${about.role} cannot write the marker table; run "countersign target init"`);
    else add('ok', 'the marker table exists');
  } else if (about.marker === true)
    add('fail', `the stage role ${about.role} can write the marker table; use another role`);
  const granted = await names(GRANTED);
  if (granted.length === 0)
    add('fail', `role ${about.role} cannot write any table; grant tables with "countersign target init"`);
  else add('ok', `role ${about.role} can write ${granted.length} tables`);
  list('fail', 'tables that can be written but not read, so their rows cannot be captured', await names(UNREADABLE));
  list(
    'warn',
    'tables without a primary key, so changes to their rows always need a human confirmation',
    await names(KEYLESS),
  );
  list('warn', 'sequences that a dry run can set, which a rollback does not undo', await names(SETTABLE));
  return lines;
}

interface About {
  readonly version: string;
  readonly number: number;
  readonly role: string;
  readonly privileged: boolean;
  readonly counts: boolean;
  /** Whether the role has the commit privileges on the marker table. Null if the table does not exist or the role cannot see it. */
  readonly marker: boolean | null;
}

const ABOUT = `
SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
  current_user::text AS role, r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls AS privileged,
  current_setting('track_counts') = 'on' AS counts,
  (SELECT has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, 'change_id', 'INSERT')
     AND has_table_privilege(c.oid, 'SELECT') AND has_column_privilege(c.oid, 'effect', 'UPDATE')
   FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = 'countersign' AND c.relname = 'marker') AS marker
FROM pg_roles r WHERE r.rolname = current_user`;

const MEMBERSHIPS = `
SELECT g.rolname::text AS name FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid JOIN pg_roles r ON r.oid = m.member
WHERE r.rolname = current_user ORDER BY 1`;

const USER_TABLES = `pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'countersign') AND n.nspname NOT LIKE 'pg\\_%'`;
const WRITES = `(has_table_privilege(c.oid, 'INSERT') OR has_table_privilege(c.oid, 'UPDATE') OR has_table_privilege(c.oid, 'DELETE'))`;
const NAME = `n.nspname || '.' || c.relname AS name`;

const GRANTED = `SELECT ${NAME} FROM ${USER_TABLES} AND ${WRITES} ORDER BY 1`;
const UNREADABLE = `SELECT ${NAME} FROM ${USER_TABLES} AND ${WRITES} AND NOT has_table_privilege(c.oid, 'SELECT') ORDER BY 1`;
const KEYLESS = `SELECT ${NAME} FROM ${USER_TABLES} AND ${WRITES} AND NOT c.relispartition
  AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary) ORDER BY 1`;
const CREATABLE = `SELECT nspname::text AS name FROM pg_namespace
WHERE nspname NOT LIKE 'pg\\_%' AND has_schema_privilege(oid, 'CREATE') ORDER BY 1`;
const SETTABLE = `SELECT ${NAME} FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(c.oid, 'UPDATE') ELSE false END ORDER BY 1`;

/** Functions and languages with effects that a rollback does not undo, and foreign tables. */
const OUTSIDE = `
SELECT * FROM (
  SELECT DISTINCT p.proname::text || '()' AS name FROM pg_proc p
  WHERE (p.proname LIKE 'dblink%' OR p.proname IN ('pg_read_file', 'pg_read_binary_file', 'pg_ls_dir', 'lo_import', 'lo_export',
      'pg_file_write', 'pg_execute_server_program', 'http_get', 'http_post', 'http'))
    AND has_function_privilege(p.oid, 'EXECUTE')
  UNION ALL
  SELECT 'language ' || l.lanname FROM pg_language l WHERE NOT l.lanpltrusted AND l.lanname NOT IN ('internal', 'c') AND has_language_privilege(l.oid, 'USAGE')
  UNION ALL
  SELECT 'foreign table ' || n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'f' AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE')
) found ORDER BY 1`;
