import { signPredicate } from '../signing/envelope';
import { TASK_QUEUES } from '../policy/contracts/queues';
import { JudgeEnv, readEnv, readKey, readPrices, readTrust } from './config';
import { loadExtensions } from './extensions';
import { main } from './main';
import { openResources } from './resources';
import { judgeActivities } from './roles/judge';
import { runWorker } from './run-worker';

main('judge-worker', async (logger) => {
  const env = readEnv(JudgeEnv, process.env);
  const key = readKey(env, 'attestor');
  const extensions = await loadExtensions(env.COUNTERSIGN_EXTENSIONS);
  const trustedOperators = readTrust(env.COUNTERSIGN_TRUST_FILE);
  const resources = openResources({
    databaseUrl: env.COUNTERSIGN_DATABASE_URL,
    applicationName: 'countersign-judge',
    trustedOperators,
    extensions,
    logger,
  });
  if (env.OPENAI_API_KEY === undefined)
    logger.warn('OPENAI_API_KEY is not set: the judge cannot answer, and each change that has one asks a human');
  const attestor = {
    keyId: key.keyId,
    sign: (predicate: Parameters<typeof signPredicate<'attested'>>[1]) => signPredicate('attested', predicate, key),
  };
  const transport = { baseUrl: env.OPENAI_BASE_URL, apiKey: env.OPENAI_API_KEY ?? 'none' };
  await runWorker({
    env: process.env,
    logger,
    taskQueue: TASK_QUEUES.judge + env.COUNTERSIGN_QUEUE_SUFFIX,
    activities: judgeActivities({
      resources,
      extensions,
      attestor,
      key,
      transport,
      prices: readPrices(env.COUNTERSIGN_JUDGE_PRICES_FILE),
    }),
    workflows: false,
    maxTaskQueueActivitiesPerSecond: env.COUNTERSIGN_JUDGE_REQUESTS_PER_SECOND,
    metricsPort: env.COUNTERSIGN_METRICS_PORT,
  });
  await resources.db.close();
});
