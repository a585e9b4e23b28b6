import { messageOf } from '../../client/errors';
import { counted } from '../../policy/text/counted';
import type { Database } from '../../storage/database/database';
import { isDatabaseDown } from '../../storage/database/database-down';
import { MIN_SERVER_VERSION } from '../../storage/database/migrate';
import { SCHEMA_VERSION } from '../../storage/database/schema';
import type { LocalClient } from '../../workers/local-client';
import { failed, passed, type Check } from './check';
import { checkCheckpoints } from './checkpoints';
import { databaseFix, SETUP, withDoctorDatabase } from './doctor-database';
import type { ConfiguredProcess } from './processes';
import { checkRole, configuredRoles, placeOf } from './roles';

const NAME = 'Countersign database';
const URL_NAME = 'COUNTERSIGN_DATABASE_URL';
/** A resolution or reset is refused if clocks differ by minutes; a second is normal without time synchronization. */
const MAX_SKEW_MS = 5_000;

export interface DatabaseChecks {
  readonly checks: readonly Check[];
  /** Whether the role of the gateway can log in, and the database has tables of Countersign. */
  readonly readable: boolean;
}

/** Server, schema, clock, checkpoints, and what each role may do. */
export async function checkDatabase(
  local: LocalClient,
  processes: readonly ConfiguredProcess[],
  { offline }: { readonly offline: boolean },
): Promise<DatabaseChecks> {
  const others = configuredRoles(local, processes);
  const problem = await openingProblem(local.databaseUrl);
  if (problem !== null) {
    // The other roles log in to the same server.
    const roles = problem.down ? [] : await Promise.all(others.map(([role, url]) => checkRole(role, url, null)));
    return { checks: [problem.check, ...roles], readable: false };
  }
  const [place, checks] = await withDoctorDatabase(local.databaseUrl, async (db): Promise<[string, Check[]]> => [
    await placeOf(db),
    [
      ...(await attempt(NAME, () => checkSchema(db))),
      ...(await attempt('clock', () => checkClock(db))),
      ...(offline ? [] : await attempt('checkpoints', () => checkCheckpoints(db))),
    ],
  ]);
  for (const [role, url] of [['cs_gateway', local.databaseUrl] as const, ...others])
    checks.push(await checkRole(role, url, place));
  return { checks, readable: true };
}

async function attempt(name: string, check: () => Promise<readonly Check[]>): Promise<readonly Check[]> {
  try {
    return await check();
  } catch (error) {
    return [failed(name, messageOf(error), databaseFix(error, URL_NAME))];
  }
}

/** Why nothing can be read. `down`: the server does not answer. */
async function openingProblem(url: string): Promise<{ readonly check: Check; readonly down: boolean } | null> {
  try {
    const { rows } = await withDoctorDatabase(url, (db) =>
      db.query<{ found: string | null }>(`select to_regclass('schema_info')::text as found`),
    );
    if (rows[0]?.found != null) return null;
    return { check: failed(NAME, 'has no tables of Countersign that its role can see', SETUP), down: false };
  } catch (error) {
    return { check: failed(NAME, messageOf(error), databaseFix(error, URL_NAME)), down: isDatabaseDown(error) };
  }
}

/** A type, because the driver asks for an index signature. */
type SchemaFacts = {
  readonly version: number | null;
  readonly reviews: string;
  readonly server: string;
  readonly number: number;
  readonly read_only: boolean;
};

async function checkSchema(db: Database): Promise<readonly Check[]> {
  const { rows } = await db.query<SchemaFacts>(
    `select (select max(version) from schema_info) as version, (select count(*) from reviews) as reviews,
            current_setting('server_version') as server, current_setting('server_version_num')::int as number,
            current_setting('transaction_read_only')::boolean as read_only`,
  );
  const { version = null, reviews = '0', server = '', number = 0, read_only: readOnly = false } = rows[0] ?? {};
  const detail = `PostgreSQL ${server}, schema ${version ?? 'unknown'}, ${counted(Number(reviews), 'review')}`;
  if (number < MIN_SERVER_VERSION) return [failed(NAME, detail, 'Use PostgreSQL 16 or later')];
  if (readOnly)
    return [failed(NAME, `${detail}; it only reads, as a standby does`, 'Name the primary in the URL of each process')];
  if (version === SCHEMA_VERSION) return [passed(NAME, detail)];
  return [
    failed(
      NAME,
      `${detail}; this version needs schema ${SCHEMA_VERSION}`,
      version !== null && version > SCHEMA_VERSION
        ? 'Use the version of Countersign that made this schema, or a newer one'
        : SETUP,
    ),
  ];
}

/** Signed times are checked against the clock of the database. */
async function checkClock(db: Database): Promise<readonly Check[]> {
  const before = Date.now();
  const { rows } = await db.query<{ now: number }>('select extract(epoch from clock_timestamp()) * 1000 as now');
  const after = Date.now();
  const now = Number(rows[0]?.now ?? 0);
  // The database read its clock at some time between `before` and `after`.
  const skew = now < before ? before - now : Math.max(0, now - after);
  const detail = `differs by ${(skew / 1000).toFixed(1)} s from that of the database`;
  const fix = 'Synchronize the clocks of this machine and of the database server, for example with chrony';
  return [skew <= MAX_SKEW_MS ? passed('clock', detail) : failed('clock', detail, fix)];
}
