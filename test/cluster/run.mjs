// npm run test:cluster [jest arguments]
// npm run test:cluster -- --auth
//
// Runs the system tests against the setup of docker-compose.yml without a container engine: Temporal server 1.32.1 and its SQL
// tool, built from the pinned module in tools/cluster, on a real PostgreSQL, set up by the same scripts that the compose file
// mounts. Not part of `npm test`, because the first build takes about 4 minutes. --keep keeps the server running until Ctrl-C.
// --auth turns on what deploy/temporal-auth.override.yaml does, and checks which calls each kind of token may make.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkTokens, environments, makeCertificates, NAMESPACE, startIdentityProvider } from './authorizer.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const require = createRequire(join(root, 'package.json'));
const embedded = (name) => require(join(root, 'dist/dev/embedded', name));
const { findTemporal } = embedded('temporal-cli.js');
const { waitForTemporal } = embedded('temporal-server.js');
const { startEmbeddedPostgres } = embedded('postgres.js');
const { buildGo } = embedded('temporal-cli-build.js');
const { cacheDir, freePort } = embedded('places.js');
const { stopOnExit, exited, processesWith, stopProcess } = embedded('processes.js');
const { tryLock } = embedded('lock-file.js');

const SERVER_VERSION = '1.32.1';
const say = (line) => process.stderr.write(`${line}\n`);
const stateDir = join(root, '.countersign', 'cluster');
const marker = `--root ${stateDir} start`;
const args = process.argv.slice(2);
const keep = args.includes('--keep');
const auth = args.includes('--auth');

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
  // The namespace script calls `temporal` by name. Without TEMPORAL_ADDRESS, findTemporal returns the CLI and not a running server.
  const { TEMPORAL_ADDRESS: _, ...env } = process.env;
  const { cliPath } = await findTemporal(say, env);
  const cli = join(bin, 'temporal');
  rmSync(cli, { force: true });
  symlinkSync(cliPath, cli);
  const path = `${bin}:${process.env.PATH}`;

  mkdirSync(stateDir, { recursive: true, mode: 0o711 });
  const lock = tryLock(join(stateDir, 'lock.json'));
  if (lock.kind === 'busy') throw new Error(`Another test:cluster is running, as process ${lock.holder.pid}`);
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
  // Twice, because the scripts run again at every later `docker compose up`.
  for (const time of ['first', 'second']) await script('temporal-schema.sh', sql, time);

  const provider = auth ? await startIdentityProvider() : null;
  if (provider !== null) stops.push(provider.stop);
  const secured =
    provider === null
      ? { server: {}, client: {}, admin: {} }
      : withAuthorizer(
          environments({ certificates: makeCertificates(join(stateDir, 'tls')), jwksUrl: provider.url }),
          provider,
        );
  const address = await startServer(server, postgres.port, { username, password }, secured);
  const name = auth ? NAMESPACE : 'default';
  const namespace = {
    PATH: path,
    HOME: stateDir,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: name,
    RETENTION: '1d',
    ...secured.admin,
  };
  for (const time of ['first', 'second']) await script('temporal-namespace.sh', namespace, time);
  await waitForTemporal(address, name, 60_000, secured.admin);
  say(`Temporal: server ${SERVER_VERSION} on PostgreSQL ${postgres.version} at ${address}`);

  if (provider !== null) {
    await checkTokens({ provider, clientEnv: { ...secured.client, TEMPORAL_ADDRESS: address }, say });
    return 0;
  }
  if (keep) {
    say('--keep: the server keeps running until Ctrl-C');
    return await new Promise(() => setInterval(() => {}, 60_000));
  }
  return await systemTests(address, postgres.superuserUrl('postgres'));
}

async function systemTests(address, adminUrl) {
  const testEnv = {
    ...process.env,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: 'default',
    COUNTERSIGN_DATABASE_ADMIN_URL: adminUrl,
  };
  const jest = [join(root, 'scripts/run.mjs'), 'test', '--selectProjects', 'system', ...args];
  const child = spawn(process.execPath, jest, { cwd: root, env: testEnv, stdio: 'inherit' });
  stopOnExit(child, 'SIGTERM');
  return (await exited(child)) ?? 1;
}

/** With the token that docs/operate.md gives the set-up. */
function withAuthorizer({ server, client }, provider) {
  const token = provider.token(['temporal-system:admin', `${NAMESPACE}:admin`]);
  return { server, client, admin: { ...client, TEMPORAL_API_KEY: token } };
}

async function script(name, env, time) {
  const child = spawn('/bin/sh', [join(root, 'deploy', name)], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  stopOnExit(child, 'SIGTERM');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const timer = setTimeout(() => child.kill('SIGKILL'), 180_000);
  const code = await exited(child).finally(() => clearTimeout(timer));
  if (code !== 0) throw new Error(`deploy/${name} (${time} run) exited with code ${code}:\n${output.slice(-3_000)}`);
  say(`deploy/${name} (${time} run): done`);
}

async function startServer(server, databasePort, { username, password }, secured) {
  const ports = {};
  for (const name of ['FRONTEND', 'INTERNAL_FRONTEND', 'MATCHING', 'HISTORY', 'WORKER']) {
    ports[`${name}_GRPC_PORT`] = String(await freePort());
    // Below 32768: the cluster's membership table stores the port in a signed 16-bit column.
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
    ...secured.server,
  };
  const logFile = join(stateDir, 'temporal-server.log');
  const log = openSync(logFile, 'w', 0o600);
  // --root has no effect (the configuration is embedded in the program), but identifies the process as started by this checkout.
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
  // `temporal-system` exists as soon as the server responds; `default` is created later.
  const up = waitForTemporal(address, 'temporal-system', 90_000, secured.admin).then(
    () => 'up',
    (error) => error.message,
  );
  const outcome = await Promise.race([up, exited(child).then((code) => `it exited with code ${code}`)]);
  if (outcome === 'up') return address;
  throw new Error(
    `Temporal server ${SERVER_VERSION} did not start: ${outcome}\n${existsSync(logFile) ? readFileSync(logFile, 'utf8').slice(-3_000) : ''}`,
  );
}
