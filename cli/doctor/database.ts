import { messageOf } from '../../client/errors';
import { counted } from '../../policy/text/change-title';
import { type Database, withDatabase } from '../../storage/database/database';
import { APPEND_GRANTS, PUBLISHING_ROLES, ROLES, TABLE_GRANTS, type Role } from '../../storage/database/roles';
import { MIN_SERVER_VERSION } from '../../storage/database/migrate';
import { SCHEMA_VERSION } from '../../storage/database/schema';
import type { LocalClient } from '../../workers/local-client';
import { failed, passed, type Check } from './check';
import type { ConfiguredProcess } from './processes';

const TIMEOUT_MS = 5_000;
/** A resolution or reset is refused if clocks differ by minutes; a second is normal without time synchronization. */
const MAX_SKEW_MS = 5_000;
/** The committer signs a checkpoint each minute while there are new rows. */
const MAX_UNWITNESSED_MS = 5 * 60_000;

export interface DatabaseChecks {
  readonly checks: readonly Check[];
  readonly readable: boolean;
}

/** Server, schema, clock, checkpoints, and what each role may do. */
export async function checkDatabase(
  local: LocalClient,
  processes: readonly ConfiguredProcess[],
  { offline }: { readonly offline: boolean },
): Promise<DatabaseChecks> {
  try {
    const checks = await withDoctorDatabase(local.databaseUrl, async (db) => [
      await checkSchema(db),
      await checkClock(db),
      ...(offline ? [] : [await checkCheckpoints(db)]),
    ]);
    return { checks: [...checks, ...(await checkRights(local, processes))], readable: true };
  } catch (error) {
    const fix = 'Start PostgreSQL, check COUNTERSIGN_DATABASE_URL, run "countersign init" or "countersign setup"';
    return { checks: [failed('Countersign database', messageOf(error), fix)], readable: false };
  }
}

export async function withDoctorDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const options = { url, applicationName: 'countersign-doctor', max: 1, connectTimeoutMs: TIMEOUT_MS };
  return await withDatabase(options, work);
}

async function checkSchema(db: Database): Promise<Check> {
  const { rows } = await db.query<{ version: number | null; reviews: string; server: string; number: number }>(
    `select (select max(version) from schema_info) as version, (select count(*) from reviews) as reviews,
            current_setting('server_version') as server, current_setting('server_version_num')::int as number`,
  );
  const { version = null, reviews = '0', server = '', number = 0 } = rows[0] ?? {};
  const detail = `PostgreSQL ${server}, schema ${version ?? 'unknown'}, ${counted(Number(reviews), 'review')}`;
  if (number < MIN_SERVER_VERSION) return failed('Countersign database', detail, 'Use PostgreSQL 16 or later');
  return version === SCHEMA_VERSION
    ? passed('Countersign database', detail)
    : failed(
        'Countersign database',
        `${detail}; this version needs schema ${SCHEMA_VERSION}`,
        version !== null && version > SCHEMA_VERSION
          ? 'Use the version of Countersign that made this schema, or a newer one'
          : 'Run "countersign setup" with COUNTERSIGN_DATABASE_ADMIN_URL, or "countersign init" again',
      );
}

/** Signed times are checked against the clock of the database. */
async function checkClock(db: Database): Promise<Check> {
  const before = Date.now();
  const { rows } = await db.query<{ now: number }>('select extract(epoch from clock_timestamp()) * 1000 as now');
  const after = Date.now();
  const now = Number(rows[0]?.now ?? 0);
  // The database read its clock at some time between `before` and `after`.
  const skew = now < before ? before - now : Math.max(0, now - after);
  const detail = `differs by ${(skew / 1000).toFixed(1)} s from that of the database`;
  return skew <= MAX_SKEW_MS
    ? passed('clock', detail)
    : failed(
        'clock',
        detail,
        'Synchronize the clocks of this machine and of the database server, for example with chrony',
      );
}

/** The oldest row of the ledger that no checkpoint covers, and the newest checkpoint. */
async function checkCheckpoints(db: Database): Promise<Check> {
  const { rows } = await db.query<{ oldest: string | null; newest: Date | null }>(
    `select (select min(l.at) from ledger l
             where l.seq > coalesce((select settled_seq from ledger_checkpoints order by size desc limit 1), 0)
               and not exists (select from ledger_leaves m where m.change_id = l.change_id and m.n = l.n)) as oldest,
            (select max(created_at) from ledger_checkpoints) as newest`,
  );
  const { oldest = null, newest = null } = rows[0] ?? {};
  const last = newest === null ? 'none yet' : newest.toISOString();
  if (oldest === null || Date.now() - Date.parse(oldest) <= MAX_UNWITNESSED_MS)
    return passed('checkpoints', `newest: ${last}`);
  return failed(
    'checkpoints',
    `rows since ${oldest} have no checkpoint; newest: ${last}`,
    'Start the committer, which signs one each minute, and read its log; then run "countersign ledger verify"',
  );
}

async function checkRights(local: LocalClient, processes: readonly ConfiguredProcess[]): Promise<readonly Check[]> {
  const roles: readonly (readonly [Role, string])[] = [
    ['cs_gateway', local.databaseUrl],
    // Approvers have no URL of the operator.
    ...(local.operatorDatabaseUrl === local.databaseUrl ? [] : ([['cs_operator', local.operatorDatabaseUrl]] as const)),
    ...processes
      .filter(({ databaseUrl }) => databaseUrl !== local.databaseUrl)
      .map(({ role, databaseUrl }) => [role, databaseUrl] as const),
  ];
  const checks: Check[] = [];
  for (const [role, url] of roles) checks.push(await checkRole(role, url));
  return checks;
}

const RIGHTS = `
select current_user::text as name, rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as privileged,
  has_function_privilege((select oid from pg_proc where proname = 'ledger_append' limit 1), 'execute') as appends,
  has_function_privilege((select oid from pg_proc where proname = 'publish_policy' limit 1), 'execute') as publishes,
  array(select wanted.t || ' (' || wanted.r || ')' from unnest($1::text[], $2::text[]) as wanted(t, r)
        where not has_table_privilege(wanted.t, wanted.r)) as missing
from pg_roles where rolname = current_user`;

/** Logs in as the role, and compares its rights with those that it needs. */
async function checkRole(role: Role, url: string): Promise<Check> {
  const name = `role ${role}`;
  const grants = Object.entries(TABLE_GRANTS[role]).flatMap(([table, rights]) => rights.map((right) => [table, right]));
  try {
    const { rows } = await withDoctorDatabase(url, (db) =>
      db.query<{
        name: string;
        privileged: boolean;
        appends: boolean | null;
        publishes: boolean | null;
        missing: string[];
      }>(RIGHTS, [grants.map(([table]) => table), grants.map(([, right]) => right)]),
    );
    const found = rows[0];
    if (found === undefined || found.name !== role)
      return failed(
        name,
        `its URL logs in as ${found?.name ?? 'an unknown role'}`,
        `Use the role ${role}, one of ${ROLES.join(', ')}`,
      );
    if (found.privileged)
      return failed(
        name,
        'is a superuser or can create roles or databases',
        `alter role ${role} nosuperuser nocreaterole nocreatedb nobypassrls`,
      );
    const appends = found.appends === true || APPEND_GRANTS[role] === undefined;
    const publishes = found.publishes === true || !PUBLISHING_ROLES.includes(role);
    const missing = [
      ...found.missing,
      ...(appends ? [] : ['ledger_append (execute)']),
      ...(publishes ? [] : ['publish_policy (execute)']),
    ];
    return missing.length === 0
      ? passed(name, 'can log in and has its rights')
      : failed(
          name,
          `lacks ${missing.join(', ')}`,
          'Run "countersign setup" with COUNTERSIGN_DATABASE_ADMIN_URL, which grants them',
        );
  } catch (error) {
    return failed(name, messageOf(error), 'Correct its URL, or run "countersign init --rotate" for a new password');
  }
}
