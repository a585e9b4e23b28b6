import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { withDatabase } from '../storage/database/database';
import { rolePassword, RoleInUse, type RolePassword } from '../storage/database/role-password';
import { ROLES, type Role } from '../storage/database/roles';
import { ConfigError } from '../workers/config-error';
import { readJson } from '../workers/json-file';
import type { Runtime } from './embedded';
import { writeJson } from './write-json';

const FILE = 'role-passwords.json';
const Passwords = z.partialRecord(z.enum(ROLES), z.string().min(1));

export type RolePasswords = Readonly<Record<Role, RolePassword>>;

/**
 * The password of each role, also written to the state directory before the server gets it, so that a run that was killed can be
 * repeated. On a server that was not started here, throws ConfigError if a role has another password, unless `rotate`: processes of
 * another installation may log in with it.
 */
export async function rolePasswords(
  { postgres, stateDir }: Pick<Runtime, 'postgres' | 'stateDir'>,
  adminUrl: string,
  { password: given, rotate: replaces = false }: { readonly password?: string; readonly rotate?: boolean },
): Promise<RolePasswords> {
  const path = join(stateDir, FILE);
  const known = existsSync(path) ? readJson(path, Passwords) : {};
  const rotate = replaces || postgres.pid !== undefined;
  const entries = await withDatabase({ url: adminUrl, applicationName: 'countersign-setup', max: 1 }, async (db) => {
    const found: [Role, RolePassword][] = [];
    for (const role of ROLES)
      found.push([role, await rolePassword({ db, adminUrl, role, known: given ?? known[role], rotate })]);
    return found;
  }).catch((error: unknown) => {
    if (!(error instanceof RoleInUse)) throw error;
    throw new ConfigError(
      `${error.message}. If another installation of Countersign uses the server of COUNTERSIGN_DATABASE_ADMIN_URL, unset the variable, so that a server is started here, or name another server: its processes would lose their access. If the role is left from an earlier dev or demo, give --rotate to set a new password`,
      { cause: error },
    );
  });
  writeJson(stateDir, FILE, Object.fromEntries(entries.map(([role, { password }]) => [role, password])));
  return Object.fromEntries(entries) as RolePasswords;
}
