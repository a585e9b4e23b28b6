import type { Webhook } from '../activities/review/notify';
import { signPredicate } from '../signing/envelope';
import { TASK_QUEUES } from '../policy/contracts/queues';
import { ConfigError, readEnv, readKey, readTrust, ReviewEnv } from './config';
import { temporalBreakers } from './breakers';
import { startDerivationThreads } from './derivation';
import { loadExtensions } from './extensions';
import { main } from './main';
import { openResources } from './resources';
import { reviewActivities } from './roles/review';
import { runWorker } from './run-worker';
import { openClient } from './temporal';

main('review-worker', async (logger) => {
  const env = readEnv(ReviewEnv, process.env);
  const key = readKey(env, 'attestor');
  const extensions = await loadExtensions(env.COUNTERSIGN_EXTENSIONS);
  const trustedOperators = readTrust(env.COUNTERSIGN_TRUST_FILE);
  const resources = openResources({
    databaseUrl: env.COUNTERSIGN_DATABASE_URL,
    applicationName: 'countersign-review',
    trustedOperators,
    extensions,
    logger,
  });
  const attestor = {
    keyId: key.keyId,
    sign: (predicate: Parameters<typeof signPredicate<'attested'>>[1]) => signPredicate('attested', predicate, key),
  };
  const taskQueue = TASK_QUEUES.review + env.COUNTERSIGN_QUEUE_SUFFIX;
  const temporal = env.COUNTERSIGN_BREAKERS === 'on' ? openClient(process.env) : null;
  const breakers = temporal === null ? null : temporalBreakers({ temporal, taskQueue });
  const threads = startDerivationThreads(env.COUNTERSIGN_EXTENSIONS);
  const activities = reviewActivities({
    resources,
    extensions,
    attestor,
    webhooks: webhooksOf(env),
    breakers,
    logger,
    threads,
  });
  await runWorker({
    env: process.env,
    logger,
    taskQueue,
    activities,
    workflows: true,
    metricsPort: env.COUNTERSIGN_METRICS_PORT,
  });
  await threads.close();
  await temporal?.connection.close();
  await resources.db.close();
});

function webhooksOf(env: {
  COUNTERSIGN_WEBHOOK_URL?: string | undefined;
  COUNTERSIGN_WEBHOOK_SECRET?: string | undefined;
}): ReadonlyMap<string, Webhook> {
  const { COUNTERSIGN_WEBHOOK_URL: url, COUNTERSIGN_WEBHOOK_SECRET: secret } = env;
  if (url === undefined) return new Map();
  if (secret === undefined)
    throw new ConfigError('COUNTERSIGN_WEBHOOK_SECRET: is not set, and a webhook is never called unsigned');
  return new Map([['webhook', { url, secret }]]);
}
