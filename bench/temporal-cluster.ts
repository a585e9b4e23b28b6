import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, packageRoot, type Env } from '../dev/embedded/places';
import { startEmbeddedPostgres, type PostgresServer } from '../dev/embedded/postgres';
import { exited, outputOf, processesWith, stopOnExit, stopProcess, type Say } from '../dev/embedded/processes';
import { findTemporal } from '../dev/embedded/temporal-cli';
import { buildGo } from '../dev/embedded/temporal-cli-build';
import { waitForTemporal } from '../dev/embedded/temporal-server';
import { cacheDir } from '../workers/cache-dir';

const SERVER_VERSION = '1.32.1';

interface TemporalClusterOptions {
  /** Data, logs and the marker by which a later run finds servers that this one left. */
  readonly stateDir: string;
  readonly namespace: string;
  /** Turns PostgreSQL's durability off, for tests. */
  readonly fast: boolean;
  readonly say: Say;
  /** More environment for the server, and for the set-up of schema and namespace. */
  readonly serverEnv?: Readonly<Record<string, string>>;
  readonly adminEnv?: Readonly<Record<string, string>>;
}

interface TemporalCluster {
  readonly address: string;
  readonly postgres: PostgresServer;
  stop(): Promise<void>;
}

/**
 * Temporal server 1.32.1 on a real PostgreSQL, as docker-compose.yml describes them but without a container engine: built from the
 * pinned module in tools/cluster (about 4 minutes the first time) and set up by the scripts that the compose file mounts.
 */
export async function startTemporalCluster(options: TemporalClusterOptions): Promise<TemporalCluster> {
  const { stateDir, namespace, fast, say } = options;
  const bin = await buildPrograms(say);
  mkdirSync(stateDir, { recursive: true, mode: 0o711 });
  const marker = `--root ${stateDir} start`;
  for (const pid of processesWith([marker])) await stopProcess(pid, marker, ['SIGTERM'], 20_000);
  const postgres = await startEmbeddedPostgres({ stateDir, say, fast });
  let server: Pick<TemporalCluster, 'address' | 'stop'> | null = null;
  try {
    for (const name of ['temporal', 'temporal_visibility']) await postgres.createDatabase(name);
    const path = `${bin}:${process.env['PATH']}`;
    const { username, password } = new URL(postgres.superuserUrl('postgres'));
    const sql = { SQL_HOST: '127.0.0.1', SQL_PORT: String(postgres.port), SQL_USER: username, SQL_PASSWORD: password };
    // Twice, because the scripts run again at every later `docker compose up`.
    for (const time of ['first', 'second']) await runScript('temporal-schema.sh', { PATH: path, ...sql }, time, say);
    server = await startServer(bin, postgres, options, marker);
    const { address } = server;
    const env = {
      PATH: path,
      HOME: stateDir,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      RETENTION: '1d',
    };
    for (const time of ['first', 'second'])
      await runScript('temporal-namespace.sh', { ...env, ...options.adminEnv }, time, say);
    await waitForTemporal(address, namespace, 60_000, options.adminEnv);
    say(`Temporal: server ${SERVER_VERSION} on PostgreSQL ${postgres.version} at ${address}`);
    const stop = async (): Promise<void> => {
      await server?.stop();
      await postgres.stop();
    };
    return { address, postgres, stop };
  } catch (error) {
    await server?.stop();
    await postgres.stop();
    throw error;
  }
}

/** The folder of server, SQL tool and CLI. */
async function buildPrograms(say: Say): Promise<string> {
  const bin = join(cacheDir(), `cluster-${SERVER_VERSION}`);
  const built = await buildGo({
    module: join(packageRoot(), 'tools', 'cluster'),
    packages: ['go.temporal.io/server/cmd/server', 'go.temporal.io/server/cmd/tools/sql'],
    targets: [join(bin, 'temporal-server'), join(bin, 'temporal-sql-tool')],
    what: `Temporal server ${SERVER_VERSION}`,
    say,
  });
  if (!built) throw new Error(`Temporal server ${SERVER_VERSION} could not be built; see above`);
  // The namespace script calls `temporal` by name. Without TEMPORAL_ADDRESS, findTemporal returns the CLI and not a running server.
  const { TEMPORAL_ADDRESS: _, ...env }: Env = process.env;
  const { cliPath } = await findTemporal(say, env);
  if (cliPath === undefined) throw new Error('No Temporal CLI was found');
  const cli = join(bin, 'temporal');
  rmSync(cli, { force: true });
  symlinkSync(cliPath, cli);
  return bin;
}

async function runScript(name: string, env: Record<string, string>, time: string, say: Say): Promise<void> {
  const child = spawn('/bin/sh', [join(packageRoot(), 'deploy', name)], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { code, output } = await outputOf(child, 180_000);
  if (code !== 0) throw new Error(`deploy/${name} (${time} run) exited with code ${code}:\n${output}`);
  say(`deploy/${name} (${time} run): done`);
}

async function startServer(
  bin: string,
  postgres: PostgresServer,
  { stateDir, serverEnv = {}, adminEnv = {} }: TemporalClusterOptions,
  marker: string,
): Promise<Pick<TemporalCluster, 'address' | 'stop'>> {
  const ports = await chosenPorts();
  const { username, password } = new URL(postgres.superuserUrl('postgres'));
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: stateDir,
    ...ports,
    DB: 'postgres12',
    DB_PORT: String(postgres.port),
    POSTGRES_SEEDS: '127.0.0.1',
    POSTGRES_USER: username,
    POSTGRES_PWD: password,
    TEMPORAL_ALLOW_NO_AUTH: 'true',
    BIND_ON_IP: '127.0.0.1',
    TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
    DYNAMIC_CONFIG_FILE_PATH: join(packageRoot(), 'deploy', 'temporal-dynamic.yaml'),
    LOG_LEVEL: 'warn',
    ...serverEnv,
  };
  const logFile = join(stateDir, 'temporal-server.log');
  const log = openSync(logFile, 'w', 0o600);
  // --root has no effect (the configuration is embedded in the program), but identifies the process as started by this checkout.
  const child = spawn(join(bin, 'temporal-server'), ['--root', stateDir, 'start'], {
    cwd: stateDir,
    env,
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  stopOnExit(child, 'SIGTERM');
  const address = `127.0.0.1:${ports['FRONTEND_GRPC_PORT']}`;
  // `temporal-system` exists as soon as the server responds; the namespace is created later.
  const up = waitForTemporal(address, 'temporal-system', 90_000, adminEnv).then(
    () => 'up',
    (error: Error) => error.message,
  );
  const outcome = await Promise.race([up, exited(child).then((code) => `it exited with code ${code}`)]);
  const stop = async (): Promise<void> => void (await stopProcess(child.pid ?? 0, marker, ['SIGTERM'], 20_000));
  if (outcome === 'up') return { address, stop };
  await stop();
  const end = readFileSync(logFile, 'utf8').slice(-3_000);
  throw new Error(`Temporal server ${SERVER_VERSION} did not start: ${outcome}\n${end}`);
}

async function chosenPorts(): Promise<Record<string, string>> {
  const ports: Record<string, string> = {};
  for (const name of ['FRONTEND', 'INTERNAL_FRONTEND', 'MATCHING', 'HISTORY', 'WORKER']) {
    ports[`${name}_GRPC_PORT`] = String(await freePort());
    // Below 32768: the cluster's membership table stores the port in a signed 16-bit column.
    const low = Array.from({ length: 20 }, () => randomInt(20_000, 32_000));
    ports[`${name}_MEMBERSHIP_PORT`] = String(await freePort(...low));
  }
  for (const name of ['FRONTEND_HTTP_PORT', 'INTERNAL_FRONTEND_HTTP_PORT']) ports[name] = String(await freePort());
  return ports;
}
