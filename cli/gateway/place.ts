import { startedServers, stateDirOf } from '../../workers/local-client';
import type { Host } from '../host';
import { shellQuote } from '../shell-quote';
import { loginAddress, readLogin } from './login-file';
import { settingsFor, type GatewaySettings } from './settings';

/** Where commands about reviews and policies go. */
export interface Place {
  /** Null: to PostgreSQL and Temporal, which operators have on their host and `countersign dev` starts. */
  readonly gateway: GatewaySettings | null;
  /** Which place is used and which one is not; null if only one is configured. */
  readonly note: string | null;
}

type Environments = Pick<Host, 'env' | 'shellEnv'>;

/**
 * What this shell names has precedence over what was stored earlier: a command that is meant for the servers of a state directory must
 * not reach the gateway of an old login. In order: COUNTERSIGN_DATABASE_URL of the shell, or of the `cli.env` in a directory that the
 * shell names; COUNTERSIGN_GATEWAY_URL; a state directory that the shell names, unless the login is to its own gateway; the database of
 * a `cli.env` in this folder; the login; the servers of this folder. Throws ConfigError for a gateway without trust roots.
 */
export function placeOf({ env, shellEnv }: Environments): Place {
  const login = loginAddress(env);
  const ofLogin = login === null ? null : `the gateway ${login} of your login`;
  const isNamed = shellEnv['COUNTERSIGN_STATE_DIR'] !== undefined;
  const database = env['COUNTERSIGN_DATABASE_URL'] === undefined ? null : 'the database of COUNTERSIGN_DATABASE_URL';
  const url = env['COUNTERSIGN_GATEWAY_URL'];
  const urlIsNamed = shellEnv['COUNTERSIGN_GATEWAY_URL'] !== undefined;
  const databaseIsNamed = isNamed || shellEnv['COUNTERSIGN_DATABASE_URL'] !== undefined;
  if (database !== null && (databaseIsNamed || !urlIsNamed)) return { gateway: null, note: note(database, ofLogin) };

  const servers = startedServers(env);
  const ofServers = `the servers of ${servers?.dir ?? stateDirOf(env)}`;
  if (url !== undefined) {
    const unused = [
      database,
      isNamed && servers !== null && !isSame(servers.gatewayUrl, url) ? ofServers : null,
      login !== null && !isSame(login, url) ? ofLogin : null,
    ].find((each) => each !== null);
    return { gateway: settingsFor(env, url), note: note(`the gateway ${url} of COUNTERSIGN_GATEWAY_URL`, unused) };
  }
  const isOwn = login !== null && servers !== null && isSame(login, servers.gatewayUrl);
  if (isNamed && !isOwn) return { gateway: null, note: note(`${ofServers} (COUNTERSIGN_STATE_DIR)`, ofLogin) };

  const stored = readLogin(env);
  if (stored === null) return { gateway: null, note: null };
  const hint = `${ofServers}: for those set COUNTERSIGN_STATE_DIR=${shellQuote(servers?.dir ?? '')}`;
  return {
    gateway: settingsFor(env, stored.url),
    note: servers === null || isOwn ? null : note(`the gateway ${stored.url} of your login`, hint),
  };
}

function note(used: string, unused: string | null | undefined): string | null {
  return unused === null || unused === undefined ? null : `uses ${used}, not ${unused}`;
}

/** Whether two addresses are of one gateway. `dev` prints the address of loopback, and some type its name. */
function isSame(one: string, other: string): boolean {
  return originOf(one) === originOf(other);
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin.replace('//localhost', '//127.0.0.1') : url;
}
