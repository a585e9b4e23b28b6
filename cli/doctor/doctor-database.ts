import { CountersignFailure } from '../../policy/contracts/failure';
import { type Database, withDatabase } from '../../storage/database/database';
import { isDatabaseDown } from '../../storage/database/database-down';

const TIMEOUT_MS = 5_000;

export const SETUP = 'Run "countersign setup" with COUNTERSIGN_DATABASE_ADMIN_URL, or "countersign init" again';

export async function withDoctorDatabase<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const options = { url, applicationName: 'countersign-doctor', max: 1, connectTimeoutMs: TIMEOUT_MS };
  return await withDatabase(options, work);
}

/** What to do about an error of a query or of a login. `url`: what names the URL. */
export function databaseFix(error: unknown, url: string): string {
  const { code } = ((error instanceof CountersignFailure ? error.cause : error) ?? {}) as { readonly code?: unknown };
  switch (code) {
    case '28P01':
    case '28000':
      return `Correct role and password in ${url} and access in pg_hba.conf, or run "countersign init --rotate" for new passwords`;
    case '3D000':
      return `Correct the name of the database in ${url}, or run "countersign init", which creates it`;
    case '42501': // privilege
    case '42P01': // table
    case '42703': // column
    case '42883': // function
      return SETUP;
    case '53300':
      return 'End sessions on that server, or raise max_connections';
    case '57014':
    case '55P03':
      return 'Look in pg_stat_activity of that server for what blocks it, and run it again';
    default:
      return isDatabaseDown(error) ? `Start PostgreSQL, or correct host and port in ${url}` : `Correct ${url}`;
  }
}
