import { existsSync, statSync } from 'node:fs';
import { ConfigError } from './config-error';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Whether commands read a file of settings of `.countersign` in the working directory. It decides whom they trust and which code of
 * extensions they load, and it can have come with a clone or an archive, so it counts only as `init` and `dev` write it: of this user,
 * and closed to others. A file in a directory that the shell names always counts. Throws ConfigError for another user's file.
 */
export function readsFile(env: Env, path: string): boolean {
  if (!existsSync(path)) return false;
  if (env['COUNTERSIGN_STATE_DIR'] !== undefined || process.platform === 'win32') return true;
  const { mode, uid } = statSync(path);
  if ((mode & 0o077) === 0 && uid === process.getuid?.()) return true;
  throw new ConfigError(
    `${path}: other users can read it or own it, so it can have come from elsewhere, and it names servers, trusted keys and code. If it is yours, run "chmod 600 ${path}", or name its directory in COUNTERSIGN_STATE_DIR`,
  );
}

/**
 * Whether settings of a directory that the shell does not name are of the database that is named elsewhere. Otherwise its other
 * settings, such as the database of the operator, are of other servers.
 */
export function areOfDatabase(env: Env, databaseUrl: string | undefined): boolean {
  const named = env['COUNTERSIGN_DATABASE_URL'];
  if (env['COUNTERSIGN_STATE_DIR'] !== undefined || named === undefined || databaseUrl === undefined) return true;
  return databaseOf(named) === databaseOf(databaseUrl);
}

function databaseOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { hostname, port, pathname } = new URL(url);
  return `${hostname.replace(/^localhost$/, '127.0.0.1')}:${port || '5432'}${pathname}`;
}
