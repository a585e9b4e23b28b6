import { withDatabase, type Database } from '../../storage/database/database';
import { migrate } from '../../storage/database/migrate';
import { rolePassword, RoleInUse, type RolePassword } from '../../storage/database/role-password';
import { ConfigError } from '../../workers/config';
import { knownPassword, ROLES_WITH_FILES, type RoleWithFile } from './env-files';
import type { InitRequest } from './request';

/** One `init` waits this long for another one, which can take a minute on a new namespace. */
const MAX_WAIT_MS = 300_000;

/** Runs one `init` at a time for a database: two would replace each other's passwords. */
export async function oneAtATime<T>(databaseUrl: string, work: (admin: Database) => Promise<T>): Promise<T> {
  const connection = { url: databaseUrl, applicationName: 'countersign-init' };
  return await withDatabase({ ...connection, max: 1, statementTimeoutMs: MAX_WAIT_MS }, (lock) =>
    withDatabase({ ...connection, max: 2 }, (admin) =>
      lock.transaction(async (tx) => {
        await tx.query(`select pg_advisory_xact_lock(hashtextextended('countersign/init', 0))`);
        return await work(admin);
      }),
    ),
  );
}

export type RolePasswords = Readonly<Record<RoleWithFile, RolePassword>>;

/** The password of each role: that of the directory, or a new one for a role that does not exist. */
export async function rolePasswords(admin: Database, request: InitRequest): Promise<RolePasswords> {
  const { dir, databaseUrl: adminUrl, rotate } = request;
  const entries: [RoleWithFile, RolePassword][] = [];
  for (const role of ROLES_WITH_FILES) {
    const question = { db: admin, adminUrl, role, known: knownPassword(dir, role), rotate };
    entries.push([role, await orExplain(() => rolePassword(question), dir)]);
  }
  return Object.fromEntries(entries) as RolePasswords;
}

/** Says what to do about a role whose password the directory does not contain. */
export async function orExplain<T>(work: () => Promise<T>, dir: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RoleInUse)) throw error;
    throw new ConfigError(
      `${error.message}: ${dir} does not contain a password that the server accepts. Use the directory of the first run, or give --rotate to set a new password; processes with the old one lose their access`,
      { cause: error },
    );
  }
}

/** Schema, roles and grants. Sets only the passwords that the server does not have yet. */
export async function prepareSchema(request: InitRequest, passwords: RolePasswords): Promise<void> {
  const toSet = ROLES_WITH_FILES.flatMap((role) => (passwords[role].set ? [[role, passwords[role].password]] : []));
  await migrate(request.databaseUrl, { roles: Object.fromEntries(toSet) as Record<string, string> });
}
