import { createGateway } from '../gateway/app';
import { ReviewClient } from '../client/review-client';
import { TASK_QUEUES } from '../policy/contracts/queues';
import { clientLedger } from './client-ledger';
import { GatewayEnv, readEnv, readTrust } from './config';
import { loadExtensions } from './extensions';
import { main } from './main';
import { openResources } from './resources';
import { serveUntilStopped } from './serve';
import { openClient } from './temporal';

main('gateway', async (logger) => {
  const env = readEnv(GatewayEnv, process.env);
  const extensions = await loadExtensions('');
  const resources = openResources({
    databaseUrl: env.COUNTERSIGN_DATABASE_URL,
    applicationName: 'countersign-gateway',
    trustedOperators: readTrust(env.COUNTERSIGN_TRUST_FILE),
    extensions,
    logger,
  });
  const temporal = openClient(process.env);
  const reviews = new ReviewClient({
    temporal,
    taskQueue: TASK_QUEUES.review + env.COUNTERSIGN_QUEUE_SUFFIX,
    ledger: clientLedger(resources.ledger, resources.now, 'gateway'),
  });
  const app = createGateway({
    reviews,
    store: resources.store,
    findKey: (keyId) => resources.keys.find(keyId),
    // The tenants of this installation: every registered key may act for each of them.
    tenantsOf: () => env.COUNTERSIGN_TENANTS,
    now: Date.now,
    log: logger,
    healthy: async () => (await resources.db.query('select 1')).rowCount === 1,
  });
  await serveUntilStopped(app, { hostname: env.COUNTERSIGN_GATEWAY_HOST, port: env.COUNTERSIGN_GATEWAY_PORT, logger });
  await temporal.connection.close();
  await resources.db.close();
});
