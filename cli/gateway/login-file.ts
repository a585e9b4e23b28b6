import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../client/errors';
import { Name } from '../../policy/contracts/diff';
import { jsonOf } from '../../policy/text/json-of';
import { OperatorKeys, PublicKey } from '../../signing/operator-key';
import { ConfigError, type Env } from '../../workers/config';
import { writePrivate } from '../private-files';

/** What `countersign login` keeps. No secret, but it decides whom commands trust, so only its owner may write it. */
const Login = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  tenant: Name,
  /** Absolute path of the key file; the key stays there. */
  keyFile: z.string().min(1),
  operators: OperatorKeys.min(1),
  committers: z.array(PublicKey).min(1).max(1000),
});
export type Login = z.infer<typeof Login>;

/** Null in an environment without a home directory. */
function loginPath(env: Env): string | null {
  const home = env['HOME'] ?? env['USERPROFILE'];
  const config = env['XDG_CONFIG_HOME'] ?? (home === undefined ? undefined : join(home, '.config'));
  return config === undefined || config === '' ? null : join(config, 'countersign', 'login.json');
}

/** Null if the user is not logged in. Throws ConfigError if the file is malformed, or if other users can read or write it. */
export function readLogin(env: Env): Login | null {
  const path = loginPath(env);
  const text = path === null ? null : readPrivate(path);
  if (text === null) return null;
  const parsed = Login.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new ConfigError(`${path ?? ''}: not a login file. Run "countersign login" again`);
}

/** As `readLogin`, for a command that may not use it: returns the error. */
export function storedLogin(env: Env): Login | ConfigError | null {
  try {
    return readLogin(env);
  } catch (error) {
    return error instanceof ConfigError ? error : new ConfigError(messageOf(error));
  }
}

/** Replaces an earlier login. Returns the path. */
export function writeLogin(env: Env, login: Login): string {
  const path = loginPath(env);
  if (path === null)
    throw new ConfigError('HOME is not set, so the login cannot be stored: set HOME or XDG_CONFIG_HOME');
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writePrivate(path, `${JSON.stringify(Login.parse(login), null, 2)}\n`);
  return path;
}

/** False if there was no login. */
export function removeLogin(env: Env): boolean {
  const path = loginPath(env);
  if (path === null) return false;
  try {
    rmSync(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function readPrivate(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    if (process.platform !== 'win32' && (fstatSync(file).mode & 0o077) !== 0)
      throw new ConfigError(`${path}: other users can read or write it. Run "chmod 600 ${path}", or log in again`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
