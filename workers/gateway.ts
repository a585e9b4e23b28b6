import { createGateway } from '../gateway/app';
import { createGatewayMetrics } from '../gateway/metrics';
import { answerGate } from './answer-gate';
import { policyGate } from './policy-gate';
import { ReviewClient } from '../client/review-client';
import { TASK_QUEUES } from '../policy/contracts/queues';
import { PROBE_TIMEOUT_MS } from '../gateway/readiness';
import { keyEnvelopes } from '../storage/keys/key-envelopes';
import { clientLedger } from './client-ledger';
import { GatewayEnv, readEnv, readTrustFile } from './config';
import { startDerivationThreads } from './derivation';
import { payloadKeys } from './encryption/key-ring';
import { loadExtensions } from './extensions';
import { inboxDeps } from './inbox';
import { main } from './main';
import { EMPTY_SUBMISSION, submissionTitles } from './submission-titles';
import { openResources } from './resources';
import { serveUntilStopped, stopSignal } from './serve';
import { serveMetrics } from './serve-metrics';
import { connectConfig, openClient } from './temporal';

/** Most diffs are parsed in a few milliseconds. */
const TITLE_MS = 2_000;

main('gateway', async (logger) => {
  const env = readEnv(GatewayEnv, process.env);
  const extensions = await loadExtensions(env.COUNTERSIGN_EXTENSIONS);
  const trust = readTrustFile(env.COUNTERSIGN_TRUST_FILE);
  const resources = openResources({
    databaseUrl: env.COUNTERSIGN_DATABASE_URL,
    applicationName: 'countersign-gateway',
    trustedOperators: trust.operators,
    extensions,
    logger,
  });
  const temporal = openClient(process.env);
  const ledger = clientLedger({
    db: resources.db,
    databaseUrl: env.COUNTERSIGN_DATABASE_URL,
    applicationName: 'countersign-gateway',
    operators: resources.operators,
    payloadKeys: payloadKeys(process.env),
    now: resources.now,
  });
  const reviews = new ReviewClient({
    temporal,
    taskQueue: TASK_QUEUES.review + env.COUNTERSIGN_QUEUE_SUFFIX,
    ledger,
  });
  const registrations = keyEnvelopes(resources.db, resources.operators);
  const threads = startDerivationThreads(env.COUNTERSIGN_EXTENSIONS, TITLE_MS, 1);
  const titleOf = submissionTitles(resources.store, threads, logger);
  void titleOf(EMPTY_SUBMISSION);
  const metrics = createGatewayMetrics();
  const stopping = stopSignal();
  const { namespace = 'default' } = connectConfig(process.env);
  const app = createGateway({
    reviews,
    store: resources.store,
    keys: () => resources.keys.snapshot(),
    answers: answerGate(resources),
    policy: policyGate(resources.db, resources.operators),
    metrics,
    now: Date.now,
    log: logger,
    titleOf,
    inbox: inboxDeps({ env, namespace, trust, resources, notifications: ledger }),
    stopping,
    registration: async (keyId) => {
      const [found] = await registrations.envelopesOf([keyId]);
      return found?.registration ?? null;
    },
    probes: {
      database: () => resources.db.query('select 1'),
      temporal: () =>
        temporal.withDeadline(Date.now() + PROBE_TIMEOUT_MS, () => temporal.workflowService.getSystemInfo({})),
    },
  });
  const metricsServer =
    env.COUNTERSIGN_METRICS_PORT === undefined
      ? null
      : await serveMetrics({
          port: env.COUNTERSIGN_METRICS_PORT,
          metrics,
          databaseUrl: env.COUNTERSIGN_DATABASE_URL,
          temporal,
          queueSuffix: env.COUNTERSIGN_QUEUE_SUFFIX,
          logger,
        });
  await serveUntilStopped(app, {
    hostname: env.COUNTERSIGN_GATEWAY_HOST,
    port: env.COUNTERSIGN_GATEWAY_PORT,
    variable: 'COUNTERSIGN_GATEWAY_PORT',
    stopping,
    logger,
  });
  await metricsServer?.close();
  await threads.close();
  await ledger.close();
  await temporal.connection.close();
  await resources.db.close();
});
