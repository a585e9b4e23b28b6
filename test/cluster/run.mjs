// npm run test:cluster [jest arguments]
//
// Runs the system tests against what docker-compose.yml describes, without a container engine: Temporal server 1.32.1 and its
// SQL tool, built from the pinned module in tools/cluster, on a real PostgreSQL, set up by the very scripts that the compose
// file mounts. Not part of `npm test`: the build takes about 4 minutes, once. --keep leaves the server up until Ctrl-C.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const require = createRequire(join(root, 'package.json'));
const ours = (name) => require(join(root, 'dist/dev/embedded', name));
const { findTemporal } = ours('temporal-cli.js');
const { waitForTemporal } = ours('temporal-server.js');
const { startEmbeddedPostgres } = ours('postgres.js');
const { buildGo } = ours('temporal-cli-build.js');
const { cacheDir, freePort } = ours('places.js');
const { stopOnExit, exited, processesWith, stopProcess } = ours('processes.js');
const { tryLock } = ours('lock-file.js');

const SERVER_VERSION = '1.32.1';
const say = (line) => process.stderr.write(`${line}\n`);
const stateDir = join(root, '.countersign', 'cluster');
const marker = `--root ${stateDir} start`;
const args = process.argv.slice(2);
const keep = args.includes('--keep');

const stops = [];
let stopping;
const stopAll = () =>
  (stopping ??= (async () => {
    for (const stop of stops.reverse()) await stop().catch((error) => say(error.message));
  })());
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.on(signal, () => stopAll().finally(() => process.exit(code)));

try {
  process.exitCode = await main();
} catch (error) {
  say(error.stack ?? String(error));
  process.exitCode = 1;
}
await stopAll();
process.exit();

async function main() {
  const bin = join(cacheDir(), `cluster-${SERVER_VERSION}`);
  const server = join(bin, 'temporal-server');
  const built = await buildGo({
    module: join(root, 'tools', 'cluster'),
    packages: ['go.temporal.io/server/cmd/server', 'go.temporal.io/server/cmd/tools/sql'],
    targets: [server, join(bin, 'temporal-sql-tool')],
    what: `Temporal server ${SERVER_VERSION}`,
    say,
  });
  if (!built) return 1;
  // The namespace script calls `temporal` by its name. TEMPORAL_ADDRESS is taken out: the CLI is wanted, not somebody's server.
  const { TEMPORAL_ADDRESS: _, ...env } = process.env;
  const { cliPath } = await findTemporal(say, env);
  const cli = join(bin, 'temporal');
  rmSync(cli, { force: true });
  symlinkSync(cliPath, cli);
  const path = `${bin}:${process.env.PATH}`;

  mkdirSync(stateDir, { recursive: true, mode: 0o711 });
  const lock = tryLock(join(stateDir, 'lock.json'));
  if (lock.kind === 'busy') throw new Error(`Another test:cluster runs, as process ${lock.holder.pid}`);
  stops.push(async () => lock.release());

  for (const pid of processesWith([marker])) await stopProcess(pid, marker, ['SIGTERM'], 20_000);
  const postgres = await startEmbeddedPostgres({ stateDir, say, fast: true });
  stops.push(postgres.stop);
  for (const name of ['temporal', 'temporal_visibility']) await postgres.createDatabase(name);
  const { username, password } = new URL(postgres.superuserUrl('postgres'));
  const sql = {
    PATH: path,
    SQL_HOST: '127.0.0.1',
    SQL_PORT: String(postgres.port),
    SQL_USER: username,
    SQL_PASSWORD: password,
  };
  // Twice: the second time is every later `docker compose up`.
  for (const time of ['first', 'second']) await script('temporal-schema.sh', sql, time);

  const address = await startServer(server, postgres.port, { username, password });
  const namespace = {
    PATH: path,
    HOME: stateDir,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: 'default',
    RETENTION: '1d',
  };
  for (const time of ['first', 'second']) await script('temporal-namespace.sh', namespace, time);
  await waitForTemporal(address, 'default', 60_000);
  say(`Temporal: server ${SERVER_VERSION} on PostgreSQL ${postgres.version} at ${address}`);

  const testEnv = {
    ...process.env,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: 'default',
    COUNTERSIGN_DATABASE_ADMIN_URL: postgres.superuserUrl('postgres'),
  };
  if (keep) {
    say('--keep: Ctrl-C stops it');
    return await new Promise(() => setInterval(() => {}, 60_000));
  }
  const jest = [join(root, 'scripts/run.mjs'), 'test', '--selectProjects', 'system', ...args];
  const child = spawn(process.execPath, jest, { cwd: root, env: testEnv, stdio: 'inherit' });
  stopOnExit(child, 'SIGTERM');
  return (await exited(child)) ?? 1;
}

async function script(name, env, time) {
  const child = spawn('/bin/sh', [join(root, 'deploy', name)], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  stopOnExit(child, 'SIGTERM');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const timer = setTimeout(() => child.kill('SIGKILL'), 180_000);
  const code = await exited(child).finally(() => clearTimeout(timer));
  if (code !== 0)
    throw new Error(`deploy/${name} (the ${time} time) ended with code ${code}:\n${output.slice(-3_000)}`);
  say(`deploy/${name}, the ${time} time: done`);
}

async function startServer(server, databasePort, { username, password }) {
  const ports = {};
  for (const name of ['FRONTEND', 'INTERNAL_FRONTEND', 'MATCHING', 'HISTORY', 'WORKER']) {
    ports[`${name}_GRPC_PORT`] = String(await freePort());
    // The cluster's membership table keeps the port in a signed 16-bit column.
    ports[`${name}_MEMBERSHIP_PORT`] = String(
      await freePort(...Array.from({ length: 20 }, () => randomInt(20_000, 32_000))),
    );
  }
  for (const name of ['FRONTEND_HTTP_PORT', 'INTERNAL_FRONTEND_HTTP_PORT']) ports[name] = String(await freePort());
  const env = {
    PATH: process.env.PATH,
    HOME: stateDir,
    ...ports,
    DB: 'postgres12',
    DB_PORT: String(databasePort),
    POSTGRES_SEEDS: '127.0.0.1',
    POSTGRES_USER: username,
    POSTGRES_PWD: password,
    TEMPORAL_ALLOW_NO_AUTH: 'true',
    BIND_ON_IP: '127.0.0.1',
    TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
    DYNAMIC_CONFIG_FILE_PATH: join(root, 'deploy', 'temporal-dynamic.yaml'),
    LOG_LEVEL: 'warn',
  };
  const logFile = join(stateDir, 'temporal-server.log');
  const log = openSync(logFile, 'w', 0o600);
  // --root changes nothing here (the configuration is in the program), but marks the process as that of this checkout.
  const child = spawn(server, ['--root', stateDir, 'start'], {
    cwd: stateDir,
    env,
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  stopOnExit(child, 'SIGTERM');
  stops.push(async () => void (await stopProcess(child.pid, marker, ['SIGTERM'], 20_000)));
  const address = `127.0.0.1:${ports.FRONTEND_GRPC_PORT}`;
  // `temporal-system` is there as soon as the server answers; `default` is made afterwards.
  const up = waitForTemporal(address, 'temporal-system', 90_000).then(
    () => 'up',
    (error) => error.message,
  );
  const outcome = await Promise.race([up, exited(child).then((code) => `it ended with code ${code}`)]);
  if (outcome === 'up') return address;
  throw new Error(
    `Temporal server ${SERVER_VERSION} did not start: ${outcome}\n${existsSync(logFile) ? readFileSync(logFile, 'utf8').slice(-3_000) : ''}`,
  );
}
