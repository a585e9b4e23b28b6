import { messageOf } from '../../client/errors';
import { APPEND_GRANTS, PUBLISHING_ROLES, ROLES, TABLE_GRANTS, type Role } from '../../storage/database/roles';
import type { Database } from '../../storage/database/database';
import type { LocalClient } from '../../workers/local-client';
import { failed, passed, type Check } from './check';
import { databaseFix, SETUP, withDoctorDatabase } from './doctor-database';
import type { ConfiguredProcess } from './processes';

/** The roles whose URLs are known here, except that of the gateway. */
export function configuredRoles(
  { databaseUrl, operatorDatabaseUrl }: LocalClient,
  processes: readonly ConfiguredProcess[],
): readonly (readonly [Role, string])[] {
  return [
    // Approvers have no URL of the operator.
    ...(operatorDatabaseUrl === databaseUrl ? [] : ([['cs_operator', operatorDatabaseUrl]] as const)),
    ...processes
      .filter(({ role, databaseUrl: url }) => role !== 'cs_gateway' || url !== databaseUrl)
      .map((process) => [process.role, process.databaseUrl] as const),
  ];
}

/** Tells servers and databases apart, also a restored copy from its original, whatever addresses and time zones their URLs have. */
const PLACE = `extract(epoch from pg_postmaster_start_time()) || ' ' || current_database()`;

/** Of the database of the CLI. */
export async function placeOf(db: Database): Promise<string> {
  const { rows } = await db.query<{ place: string }>(`select ${PLACE} as place`);
  return rows[0]?.place ?? '';
}

/** A table or function that does not exist counts as a missing right: `setup` makes both. */
const RIGHTS = `
select current_user::text as name, ${PLACE} as place, rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as privileged,
  has_function_privilege((select oid from pg_proc where proname = 'ledger_append' limit 1), 'execute') as appends,
  has_function_privilege((select oid from pg_proc where proname = 'publish_policy' limit 1), 'execute') as publishes,
  array(select wanted.t || ' (' || wanted.r || ')' from unnest($1::text[], $2::text[]) as wanted(t, r)
        where not coalesce(has_table_privilege(to_regclass(wanted.t), wanted.r), false)) as missing
from pg_roles where rolname = current_user`;

/** Logs in as the role, and compares its rights with those that it needs. `place`: of the database of the CLI, null if it is not known. */
export async function checkRole(role: Role, url: string, place: string | null): Promise<Check> {
  const name = `role ${role}`;
  const grants = Object.entries(TABLE_GRANTS[role]).flatMap(([table, rights]) => rights.map((right) => [table, right]));
  try {
    const { rows } = await withDoctorDatabase(url, (db) =>
      db.query<{
        name: string;
        place: string;
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
    if (place !== null && found.place !== place)
      return failed(
        name,
        'its URL is of another database than COUNTERSIGN_DATABASE_URL of the CLI',
        'Give all processes and the CLI the same database, and restart the processes',
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
      : failed(name, `lacks ${missing.join(', ')}`, SETUP);
  } catch (error) {
    return failed(name, messageOf(error), databaseFix(error, 'its URL'));
  }
}
