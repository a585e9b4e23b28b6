import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { messageOf } from '../../client/errors';
import { createDatabase } from '../../storage/database/create-database';
import { retried } from '../../workers/retried';
import { query } from '../query';
import { type Env, freePort } from './places';
import {
  type PostgresBinaries,
  type PostgresPackage,
  type RunAs,
  findPostgresBinaries,
  postgresUser,
} from './postgres-binaries';
import { SUPERUSER, checkData, childOptions, dataDirFor, initialise, setAside } from './postgres-data';
import { ending, isRunning, type Say, stopOnExit, stopProcess } from './processes';

/** What to start. `stateDir` has password, log and, if possible, the data; `fast` turns durability and autovacuum off, for tests. */
interface PostgresOptions {
  readonly stateDir: string;
  readonly say: Say;
  readonly fast?: boolean;
  /** Preferred port; another one is used if it is taken. */
  readonly port?: number | undefined;
  readonly env?: Env;
  /** Default: the one that npm installed. */
  readonly postgres?: PostgresPackage | undefined;
}

/** A PostgreSQL server with superuser access. `stop` is idempotent, and a no-op for a server that was not started here. */
export interface PostgresServer {
  readonly port: number;
  /** Such as `18.4`. */
  readonly version: string;
  readonly pid: number | undefined;
  readonly dataDir: string | undefined;
  /** Connection string of the superuser, with its password: never log it. */
  superuserUrl(database: string): string;
  /** Creates the database if it is missing; returns whether it was. */
  createDatabase(name: string): Promise<boolean>;
  stop(): Promise<void>;
}

const START_MS = 60_000;

/**
 * Starts the PostgreSQL that npm installed, on loopback, with password authentication; creates its data directory the first
 * time. A server that a killed run left on the same data is stopped first. Durable unless `fast`.
 * Throws with the end of the log, or with what to do, if it does not start.
 */
export async function startEmbeddedPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const { say, env = process.env } = options;
  const runAs = await postgresUser(say);
  const stateDir = resolve(options.stateDir);
  mkdirSync(stateDir, { recursive: true, mode: runAs === undefined ? 0o700 : 0o711 });
  const dataDir = dataDirFor(stateDir, runAs, env);
  const binaries = findPostgresBinaries(runAs, say, env, options.postgres);
  await stopLeftPostgres(dataDir, say);

  const passwordFile = join(stateDir, 'postgres.password');
  if (existsSync(dataDir) && !existsSync(passwordFile) && !dataDir.startsWith(join(stateDir, sep)))
    setAside(dataDir, say);
  if (!existsSync(dataDir)) await initialise(binaries, dataDir, passwordFile, runAs, options);
  checkData(dataDir, passwordFile, binaries);
  const password = readFileSync(passwordFile, 'utf8').trim();

  for (let attempt = 1; ; attempt++) {
    const port = await freePort(attempt === 1 ? options.port : undefined);
    const url = (database: string): string =>
      `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
    const outcome = await startOnce(
      binaries,
      dataDir,
      join(stateDir, 'postgres.log'),
      port,
      runAs,
      options.fast ?? false,
      url('postgres'),
    );
    if (outcome.kind === 'up') {
      say(`PostgreSQL: ${outcome.version} at 127.0.0.1:${port}, data in ${dataDir}`);
      return serverOf({ port, version: outcome.version, pid: outcome.pid, dataDir }, url, () =>
        stopPostgres(outcome.pid, dataDir),
      );
    }
    if (attempt === 3 || !outcome.log.includes('could not create any TCP/IP sockets')) {
      throw new Error(
        `PostgreSQL did not start (${outcome.why}). The end of ${join(stateDir, 'postgres.log')}:\n${outcome.log}`,
      );
    }
  }
}

/** Uses a running PostgreSQL server. Throws if it does not answer in 10 s, or if the role may not create databases and roles. */
export async function useExistingPostgres(adminUrl: string, say: Say): Promise<PostgresServer> {
  const url = (database: string): string =>
    Object.assign(new URL(adminUrl), { pathname: `/${encodeURIComponent(database)}` }).href;
  const port = Number(new URL(adminUrl).port || 5432);
  const [found] = await query<{ version: string; mayAdminister: boolean }>(
    adminUrl,
    `select current_setting('server_version') as version, rolsuper or (rolcreatedb and rolcreaterole) as "mayAdminister"
     from pg_roles where rolname = current_user`,
  );
  if (found?.mayAdminister !== true)
    throw new Error('The role of COUNTERSIGN_DATABASE_ADMIN_URL may not create databases and roles; use a superuser');
  const { version } = found;
  say(`PostgreSQL: using ${version} at ${new URL(adminUrl).host} (COUNTERSIGN_DATABASE_ADMIN_URL)`);
  return serverOf({ port, version, pid: undefined, dataDir: undefined }, url, async () => {});
}

/** Stops the server that runs on a data directory, if any. */
async function stopLeftPostgres(dataDir: string, say: Say): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  if (isRunning(pid, dataDir)) {
    say(`PostgreSQL: a run that was killed left its server behind (pid ${pid}); stopping it`);
    await stopPostgres(pid, dataDir);
    return;
  }
  // Another process may have this pid now, and PostgreSQL would refuse to start.
  rmSync(pidFile, { force: true });
}

async function stopPostgres(pid: number, dataDir: string): Promise<void> {
  // SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one; both are safe for the data.
  if (!(await stopProcess(pid, dataDir, ['SIGINT', 'SIGQUIT'], 10_000)))
    throw new Error(`PostgreSQL (pid ${pid}) does not end`);
}

function serverOf(
  facts: Pick<PostgresServer, 'port' | 'version' | 'pid' | 'dataDir'>,
  superuserUrl: (database: string) => string,
  stop: () => Promise<void>,
): PostgresServer {
  return {
    ...facts,
    superuserUrl,
    stop,
    createDatabase: (name) => createDatabase(superuserUrl(name)),
  };
}

type Outcome =
  | { readonly kind: 'up'; readonly version: string; readonly pid: number }
  | { readonly kind: 'down'; readonly why: string; readonly log: string };

async function startOnce(
  binaries: PostgresBinaries,
  dataDir: string,
  logFile: string,
  port: number,
  runAs: RunAs,
  fast: boolean,
  url: string,
): Promise<Outcome> {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    // A log file must not contain statements and row values of a diff.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    // Without autovacuum, which would visit each of a hundred databases every minute.
    ...(fast ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' } : {}),
  };
  const log = openSync(logFile, 'w', 0o600);
  const args = [
    '-D',
    dataDir,
    '-p',
    String(port),
    ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
  ];
  // In a separate process group: Ctrl-C must not stop it before the processes that use it.
  const child = spawn(binaries.postgres, args, { ...childOptions(runAs, ['ignore', log, log]), detached: true });
  closeSync(log);
  stopOnExit(child, 'SIGINT');
  const answer = await Promise.race([ending(child), untilReady(url)]);
  if (typeof answer !== 'string') return { kind: 'up', version: answer.version, pid: child.pid ?? 0 };
  await stopPostgres(child.pid ?? 0, dataDir);
  return { kind: 'down', why: answer, log: readFileSync(logFile, 'utf8').slice(-1_500).trim() };
}

async function untilReady(url: string): Promise<{ version: string } | string> {
  try {
    const [row] = await retried(
      () => query<{ version: string }>(url, `select current_setting('server_version') as version`),
      () => true,
      { everyMs: 50, withinMs: START_MS },
    );
    return { version: row?.version ?? 'unknown' };
  } catch (error) {
    return `no answer within ${START_MS / 1000} s: ${messageOf(error)}`;
  }
}
