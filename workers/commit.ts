import { createCheckpointer, MAX_CHECKPOINT_ROWS } from '../storage/ledger/checkpoint';
import { targetSlots } from '../activities/committer/target-slots';
import { stopUsing, type Targets } from '../activities/committer/targets';
import { startCheckpoints } from './checkpoints';
import { CommitEnv, ConfigError, readEnv, readTargets } from './config';
import { startDerivationThreads } from './derivation';
import { payloadKeys } from './encryption/key-ring';
import { main } from './main';
import { startDailyReplay } from './reconciler/start-daily-replay';
import { Reconciler } from './reconciler/reconciler';
import { commitActivities, commitDeps } from './roles/commit';
import { repeat } from './repeat';
import { runRole } from './run-role';
import { receiptSignerWith } from './signers';
import { openClient } from './temporal';
import { reconcilerMetrics } from './worker-metrics';

const CHECKPOINT_INTERVAL_MS = 60_000;

main('committer', async (logger) => {
  const env = readEnv(CommitEnv, process.env);
  const targets = readTargets(env.COUNTERSIGN_TARGETS_FILE);
  await runRole({
    queue: 'commit',
    keyKind: 'committer',
    env,
    logger,
    wire({ key, extensions, resources }) {
      if (key.demo) assertDevelopmentTargets(targets);
      const threads = startDerivationThreads(env.COUNTERSIGN_EXTENSIONS);
      const { checkpoint } = createCheckpointer({ db: resources.db, key, now: resources.now });
      const checkpoints = startCheckpoints({
        checkpoint,
        maxRows: MAX_CHECKPOINT_ROWS,
        everyMs: CHECKPOINT_INTERVAL_MS,
        logger,
      });
      const role = {
        resources,
        extensions,
        receipts: receiptSignerWith(key),
        targets,
        slots: targetSlots(env.COUNTERSIGN_TARGET_CONCURRENCY),
        payloadKeys: payloadKeys(process.env),
        threads,
      };
      const temporal = openClient(process.env);
      const reconciling = new Reconciler({
        db: resources.db,
        deps: commitDeps(role),
        temporal,
        graceMs: env.COUNTERSIGN_RECONCILE_GRACE_SECONDS * 1000,
        logger,
        count: reconcilerMetrics(),
      });
      const reconciler = repeat({
        pass: (stopping) => reconciling.pass(stopping),
        everyMs: env.COUNTERSIGN_RECONCILE_EVERY_SECONDS * 1000,
        logger,
        failure: 'The reconciler could not look at the open reviews',
      });
      const replays = startDailyReplay(env.COUNTERSIGN_REPLAY_PER_DAY, resources, logger);
      return {
        activities: commitActivities(role),
        async close() {
          await Promise.all([reconciler.stop(), replays.stop()]);
          stopUsing(targets);
          await temporal.connection.close();
          await checkpoints.stop();
          await threads.close();
        },
      };
    },
  });
});

/** Throws ConfigError if a target is not marked as a development target. */
function assertDevelopmentTargets(targets: Targets): void {
  const others = [...targets.values()].filter((target) => !target.development).map((target) => target.name);
  if (others.length > 0)
    throw new ConfigError(
      `COUNTERSIGN_KEY_FILE: a demo key is for development targets only, and these are not: ${others.join(', ')}`,
    );
}
