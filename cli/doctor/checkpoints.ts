import type { Database } from '../../storage/database/database';
import { oldestUncovered } from '../../storage/ledger/oldest-uncovered';
import { failed, passed, type Check } from './check';

/** The committer signs a checkpoint each minute while there are new rows. */
const MAX_UNWITNESSED_MS = 5 * 60_000;

/** The newest checkpoint, rows that none covers, and transactions that keep rows from being settled. */
export async function checkCheckpoints(db: Database): Promise<readonly Check[]> {
  return [await checkCoverage(db), ...(await checkOpenTransactions(db))];
}

/** The oldest row of the ledger that no checkpoint covers, and the newest checkpoint. */
async function checkCoverage(db: Database): Promise<Check> {
  const oldest = await oldestUncovered(db);
  const { rows } = await db.query<{ newest: Date | null }>('select max(created_at) as newest from ledger_checkpoints');
  const newest = rows[0]?.newest ?? null;
  const last = newest === null ? 'none yet' : newest.toISOString();
  if (oldest === null || Date.now() - Date.parse(oldest) <= MAX_UNWITNESSED_MS)
    return passed('checkpoints', `newest: ${last}`);
  const detail = `rows since ${oldest} have no checkpoint; newest: ${last}`;
  const fix =
    'Start the committer, which signs one each minute, and read its log; then run "countersign ledger verify"';
  return failed('checkpoints', detail, fix);
}

/** Until then, the rows that each checkpoint reads again are few. */
const MAX_OPEN_MINUTES = 15;
const MAX_NAMED = 5;

/** A type, because the driver asks for an index signature. */
type OpenTransaction = {
  /** Null: a prepared transaction. */
  readonly pid: number | null;
  readonly gid: string | null;
  readonly role: string;
  readonly database: string;
  readonly application: string;
  /** Null if the role may not see it. */
  readonly since: Date | null;
  readonly before: Date;
};

/**
 * Transactions of all databases of the server that keep rows from being settled: they were open before a checkpoint that was made
 * MAX_OPEN_MINUTES ago. Only those that write have a number, and only these count. Of other roles the server shows no times, so the
 * oldest checkpoint of the last thousand that was made after a transaction had its number says since when it is open at the latest.
 */
const OPEN = `
with old as (select created_at, xmin from ledger_checkpoints where created_at < now() - ${MAX_OPEN_MINUTES} * interval '1 minute' order by size desc limit 1),
recent as (select created_at, xmin from ledger_checkpoints order by size desc limit 1000),
open as (
  select backend_xid as xid, pid, null as gid, usename::text as role, datname::text as database, application_name as application, xact_start as since
  from pg_stat_activity where backend_xid is not null
  union all
  select transaction, null, gid, owner::text, database::text, '', prepared from pg_prepared_xacts
)
select pid, gid, coalesce(role, 'unknown') as role, coalesce(database, 'none') as database, coalesce(application, '') as application,
       since, coalesce((select min(created_at) from recent where age(recent.xmin) <= age(open.xid)), old.created_at) as before
from open, old where age(open.xid) >= age(old.xmin) order by age(open.xid) desc limit ${MAX_NAMED}`;

async function checkOpenTransactions(db: Database): Promise<readonly Check[]> {
  const { rows } = await db.query<OpenTransaction>(OPEN);
  return rows.map((row) => {
    const application = row.application === '' ? '' : `, ${row.application}`;
    const what = row.pid === null ? `prepared transaction ${row.gid}` : `session ${row.pid}`;
    const since = row.since === null ? `before ${row.before.toISOString()}` : row.since.toISOString();
    return failed(
      'checkpoints',
      `${what} (role ${row.role}, database ${row.database}${application}) has a transaction open since ${since}, so each checkpoint reads all rows since then again`,
      row.pid === null
        ? `In the database ${row.database}: rollback prepared '${row.gid?.replaceAll("'", "''")}', or commit prepared`
        : `End its work, or the session, as an administrator: select pg_terminate_backend(${row.pid})`,
    );
  });
}
