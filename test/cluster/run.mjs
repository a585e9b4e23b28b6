// npm run test:cluster [jest arguments]
// npm run test:cluster -- --auth
//
// Runs the system tests against the setup of docker-compose.yml without a container engine: see bench/temporal-cluster.ts. Not part
// of `npm test`, because the first build takes about 4 minutes. --keep keeps the server running until Ctrl-C.
// --auth turns on what deploy/temporal-auth.override.yaml does, and checks which calls each kind of token may make.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkTokens, environments, makeCertificates, NAMESPACE, startIdentityProvider } from './authorizer.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const require = createRequire(join(root, 'package.json'));
const compiled = (name) => require(join(root, 'dist', name));
const { startTemporalCluster } = compiled('bench/temporal-cluster.js');
const { stopOnExit, exited } = compiled('dev/embedded/processes.js');
const { tryLock } = compiled('dev/embedded/lock-file.js');

const say = (line) => process.stderr.write(`${line}\n`);
const stateDir = join(root, '.countersign', 'cluster');
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
  mkdirSync(stateDir, { recursive: true, mode: 0o711 });
  const lock = tryLock(join(stateDir, 'lock.json'));
  if (lock.kind === 'busy') throw new Error(`Another test:cluster is running, as process ${lock.holder.pid}`);
  stops.push(async () => lock.release());

  const provider = auth ? await startIdentityProvider() : null;
  if (provider !== null) stops.push(provider.stop);
  const secured =
    provider === null
      ? { server: {}, client: {}, admin: {} }
      : withAuthorizer(
          environments({ certificates: makeCertificates(join(stateDir, 'tls')), jwksUrl: provider.url }),
          provider,
        );
  const { address, postgres, stop } = await startTemporalCluster({
    stateDir,
    namespace: auth ? NAMESPACE : 'default',
    fast: true,
    say,
    serverEnv: secured.server,
    adminEnv: secured.admin,
  });
  stops.push(stop);

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
