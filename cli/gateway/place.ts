import { ConfigError, type Env } from '../../workers/config';
import { startedServers, stateDirOf } from '../../workers/local-client';
import type { Host } from '../host';
import { shellQuote } from '../shell-quote';
import { storedLogin } from './login-file';
import { settingsFor, type GatewaySettings } from './settings';
import { publicKeyOf, type OperatorKey } from '../../signing/operator-key';

/** Where commands about reviews and policies go. */
export interface Place {
  /** Null: to PostgreSQL and Temporal, which operators have on their host and `countersign dev` starts. */
  readonly gateway: GatewaySettings | null;
  /** Which place is used and which one is not; null if only one is configured. */
  readonly note: string | null;
}

interface Candidate {
  readonly name: string;
  /** In the note, if another one is used. */
  readonly hint?: string;
  /** The address of its gateway; null if it is not known. */
  readonly url: string | null;
  readonly operators?: readonly OperatorKey[];
  readonly settings: () => GatewaySettings | null;
}

/**
 * What this shell names has precedence over what was stored earlier: a command that is meant for the servers of a state directory must
 * not reach the gateway of an old login. Settings of one place are not used for another: a `cli.env` that came with a repository
 * chooses neither the keys that are trusted at the gateway of a login nor the one that signs there. Throws ConfigError for a gateway
 * without trust roots.
 */
export function placeOf(host: Pick<Host, 'env' | 'shellEnv'>): Place {
  const [used, ...others] = candidates(host);
  if (used === undefined) return { gateway: null, note: null };
  const unused = others.find((other) => !isSame(used, other));
  return {
    gateway: used.settings(),
    note: unused === undefined ? null : `uses ${used.name}, not ${unused.name}${unused.hint ?? ''}`,
  };
}

/** The places that are configured. The first one is used. */
function candidates({ env, shellEnv }: Pick<Host, 'env' | 'shellEnv'>): Candidate[] {
  const isNamed = shellEnv['COUNTERSIGN_STATE_DIR'] !== undefined;
  const named = isNamed ? env : shellEnv;
  const login = loginOf(named, shellEnv);
  const servers = serversOf(env, isNamed);
  const stored = isNamed ? servers : ofVariables(env, null);
  const ownLogin = login.filter((each) => stored.some((other) => isSame(each, other)));
  const variables = ofVariables(named, shellEnv);
  // The directory that the shell names sets the variables itself, in its `cli.env`: then it is the place that is used.
  const own = isNamed && ofVariables(shellEnv, null).length === 0 && variables.length > 0;
  return [...variables, ...ownLogin, ...(own ? [] : stored), ...login, ...(isNamed ? [] : servers)];
}

/** What variables name. `shellEnv`: where a login is stored, which is used if it is to the same gateway. */
function ofVariables(env: Env, shellEnv: Env | null): Candidate[] {
  if (env['COUNTERSIGN_DATABASE_URL'] !== undefined)
    return [{ name: 'the database of COUNTERSIGN_DATABASE_URL', url: null, settings: () => null }];
  const url = env['COUNTERSIGN_GATEWAY_URL'];
  if (url === undefined) return [];
  const settings = (): GatewaySettings => {
    const login = shellEnv === null ? null : storedLogin(shellEnv);
    const isOwn = login !== null && !(login instanceof ConfigError) && addressOf(login.url) === addressOf(url);
    return settingsFor(env, url, isOwn ? login : null);
  };
  return [{ name: `the gateway ${url} of COUNTERSIGN_GATEWAY_URL`, url, settings }];
}

/** A login whose file is damaged is an error only if it is used. */
function loginOf(env: Env, shellEnv: Env): Candidate[] {
  const login = storedLogin(shellEnv);
  if (login === null) return [];
  if (login instanceof ConfigError)
    return [
      {
        name: 'your login',
        url: null,
        settings: () => {
          throw login;
        },
      },
    ];
  const { url, operators } = login;
  return [{ name: `the gateway ${url} of your login`, url, operators, settings: () => settingsFor(env, url, login) }];
}

function serversOf(env: Env, isNamed: boolean): Candidate[] {
  const found = startedServers(env);
  if (found === null && !isNamed) return [];
  const dir = stateDirOf(env);
  const name = `the servers of ${dir}`;
  return [
    {
      name: isNamed ? `${name} (COUNTERSIGN_STATE_DIR)` : name,
      hint: isNamed ? '' : `: for those set COUNTERSIGN_STATE_DIR=${shellQuote(dir)}`,
      url: found?.gatewayUrl ?? null,
      operators: found?.operators ?? [],
      settings: () => null,
    },
  ];
}

/** Whether two places are of one gateway. Servers that were made again at the same address have other operators. */
function isSame(one: Candidate, other: Candidate): boolean {
  if (one.name === other.name) return true;
  if (one.url === null || other.url === null || addressOf(one.url) !== addressOf(other.url)) return false;
  const [operators, others] = [one.operators, other.operators];
  return (
    operators === undefined ||
    others === undefined ||
    operators.some((key) => others.map(publicKeyOf).includes(publicKeyOf(key)))
  );
}

/** `dev` prints the address of loopback, and some type its name. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { origin, pathname } = new URL(url);
  return origin.replace('//localhost', '//127.0.0.1') + pathname.replace(/\/$/, '');
}
