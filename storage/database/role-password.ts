/**
 * Passwords of login roles that may be in use. The password of an existing role is never replaced, unless that is requested:
 * processes that are running would lose their access.
 */
import { randomBytes } from 'node:crypto';
import { withDatabase, type Queryable } from './database';
import { asRole } from './role-url';

export interface RolePassword {
  readonly password: string;
  /** Whether the server has to be given this password. */
  readonly set: boolean;
}

/** The role exists, and its password is not the known one. */
export class RoleInUse extends Error {
  override readonly name = 'RoleInUse';
  constructor(readonly role: string) {
    super(`Role ${role} exists on this server, and its password is not known here`);
  }
}

interface RoleQuestion {
  /** With the rights of an administrator. */
  readonly db: Queryable;
  readonly adminUrl: string;
  readonly role: string;
  /** The password of an earlier run. */
  readonly known: string | undefined;
  /** Whether the password of an existing role may be replaced. */
  readonly rotate: boolean;
}

/** The known password if the role accepts it or does not exist yet, otherwise a new one. Throws RoleInUse unless `rotate`. */
export async function rolePassword({ db, adminUrl, role, known, rotate }: RoleQuestion): Promise<RolePassword> {
  const password = known ?? randomBytes(24).toString('hex');
  const { rowCount } = await db.query('select from pg_roles where rolname = $1', [role]);
  if (rowCount === 0) return { password, set: true };
  if (known !== undefined && (await canLogIn(asRole(adminUrl, role, known)))) return { password, set: false };
  if (!rotate) throw new RoleInUse(role);
  return { password, set: true };
}

const WRONG_PASSWORD = ['28P01', '28000'];

/** False if the server refuses role or password. Throws if it cannot be asked. */
async function canLogIn(url: string): Promise<boolean> {
  try {
    await withDatabase({ url, applicationName: 'countersign-login', max: 1 }, (db) => db.query('select 1'));
    return true;
  } catch (error) {
    if (WRONG_PASSWORD.includes((error as { code?: string }).code ?? '')) return false;
    throw error;
  }
}
