import { createCheckpointer, MAX_CHECKPOINT_ROWS } from '../storage/ledger/checkpoint';
import { signPredicate } from '../signing/envelope';
import { TASK_QUEUES } from '../policy/contracts/queues';
import { startCheckpoints } from './checkpoints';
import { CommitEnv, ConfigError, readEnv, readKey, readTargets, readTrust } from './config';
import { startDerivationThreads } from './derivation';
import { loadExtensions } from './extensions';
import { main } from './main';
import { openResources } from './resources';
import { commitActivities } from './roles/commit';
import { runWorker } from './run-worker';

main('committer', async (logger) => {
  const env = readEnv(CommitEnv, process.env);
  const key = readKey(env, 'committer');
  const targets = readTargets(env.COUNTERSIGN_TARGETS_FILE);
  const strict = [...targets.values()].filter((target) => !target.development).map((target) => target.name);
  if (key.demo && strict.length > 0)
    throw new ConfigError(
      `COUNTERSIGN_KEY_FILE: a demo key serves development targets only, and these are not marked so: ${strict.join(', ')}`,
    );
  const extensions = await loadExtensions(env.COUNTERSIGN_EXTENSIONS);
  const trustedOperators = readTrust(env.COUNTERSIGN_TRUST_FILE);
  const resources = openResources({
    databaseUrl: env.COUNTERSIGN_DATABASE_URL,
    applicationName: 'countersign-commit',
    trustedOperators,
    extensions,
    logger,
  });
  const receipts = {
    keyId: key.keyId,
    sign: (predicate: Parameters<typeof signPredicate<'receipt'>>[1]) => signPredicate('receipt', predicate, key),
  };
  const threads = startDerivationThreads(env.COUNTERSIGN_EXTENSIONS);
  const { checkpoint } = createCheckpointer({ db: resources.db, key, now: resources.now });
  const checkpoints = startCheckpoints({ checkpoint, maxRows: MAX_CHECKPOINT_ROWS, everyMs: 60_000, logger });
  try {
    await runWorker({
      env: process.env,
      logger,
      taskQueue: TASK_QUEUES.commit + env.COUNTERSIGN_QUEUE_SUFFIX,
      activities: commitActivities({ resources, extensions, receipts, targets, threads }),
      workflows: false,
      metricsPort: env.COUNTERSIGN_METRICS_PORT,
    });
  } finally {
    await checkpoints.stop();
    await threads.close();
  }
  await resources.db.close();
});
