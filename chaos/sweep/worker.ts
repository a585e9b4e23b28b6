/**
 * One worker process of the sweep: the wiring of `workers/review.ts`, `judge.ts` or `commit.ts` (chosen by SWEEP_ROLE), with
 * failpoints around activities, ledger writes and target writes.
 */
import { DefaultLogger, type NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { z } from 'zod';
import {
  CommitEnv,
  JudgeEnv,
  readEnv,
  readKey,
  readTargets,
  readTrustFile,
  ReviewEnv,
  type CommonEnv,
} from '../../workers/config';
import { sayReady } from '../../workers/say-ready';
import { extensionsOf, type Extensions } from '../../workers/extensions';
import { main } from '../../workers/main';
import { openResources, type Resources } from '../../workers/resources';
import { Reconciler } from '../../workers/reconciler/reconciler';
import type { ReconcilerOptions } from '../../workers/reconciler/repairs';
import { repeat } from '../../workers/repeat';
import { commitActivities, commitDeps } from '../../workers/roles/commit';
import { judgeActivities } from '../../workers/roles/judge';
import { reviewActivities } from '../../workers/roles/review';
import { targetSlots } from '../../activities/committer/target-slots';
import { inlineDerivation } from '../../activities/review/derivation';
import { recordFailures } from '../../activities/record-failures';
import { attestorWith, receiptSignerWith } from '../../workers/signers';
import { REVIEW_WORKER, workerOptions } from '../../workers/run-worker';
import { openClient } from '../../workers/temporal';
import { connectScreened } from '../../workers/screen/screened-connection';
import { connectWorker } from '../../workers/worker-connection';
import type { Logger } from '../../workers/logger';
import { TASK_QUEUES, WORKER_ROLES } from '../../policy/contracts/queues';
import { fileFaultSource } from './armed-faults';
import { withFailingActivities, withFailingLedger, withFailingRules, withFailingTargets } from './failpoints';

const SweepEnv = z.object({
  SWEEP_ROLE: z.enum(WORKER_ROLES),
  SWEEP_DIR: z.string().min(1),
  SWEEP_BUNDLE: z.string().min(1),
});
type SweepEnv = z.infer<typeof SweepEnv>;

main('sweep-worker', async (logger) => {
  const env = readEnv(SweepEnv, process.env);
  Runtime.install({ logger: new DefaultLogger('ERROR', () => {}) });
  // As in production, only workers that run workflows have the proxy.
  const screened = env.SWEEP_ROLE === 'review' ? await connectScreened(process.env, logger) : null;
  const { connection, namespace } = screened ?? (await connectWorker(process.env));
  const { activities, resources, reconcile } = wire(env, logger);
  // A failpoint that fails permanently is recorded like a failure of the activity.
  const failing = recordFailures(resources, withFailingActivities(activities, fileFaultSource(env.SWEEP_DIR)));
  const worker = await createWorker(env, failing, connection, namespace);
  const reconciler = reconcile === undefined ? undefined : startReconciling(reconcile, logger);
  sayReady();
  await worker.run();
  await reconciler?.stop();
  await connection.close();
  await screened?.closeProxy();
});

async function createWorker(
  { SWEEP_ROLE, SWEEP_BUNDLE }: SweepEnv,
  activities: object,
  connection: NativeConnection,
  namespace: string,
): Promise<Worker> {
  const options = await workerOptions({ taskQueue: TASK_QUEUES[SWEEP_ROLE], activities, workflows: false });
  const workflows = {
    workflowBundle: { codePath: SWEEP_BUNDLE },
    ...REVIEW_WORKER,
    // The workflows of a killed worker move to another worker after this long.
    stickyQueueScheduleToStartTimeout: '2 s' as const,
    // After a kill all workflow tasks arrive together and each creates a new sandbox; more in parallel would time out.
    maxConcurrentWorkflowTaskExecutions: 6,
  };
  // On a busy machine, more concurrent activities would all exceed the sweep's short timeouts and be retried.
  const limits = { maxConcurrentActivityTaskExecutions: 8 };
  return Worker.create({ ...options, ...limits, ...(SWEEP_ROLE === 'review' ? workflows : {}), connection, namespace });
}

interface Wired {
  readonly activities: object;
  readonly resources: Resources;
  /** Of the committer. */
  readonly reconcile?: Pick<ReconcilerOptions, 'db' | 'deps'>;
}

/** Like the committer's reconciler, with shorter waits: nothing else repairs a review of the sweep. */
function startReconciling(options: Pick<ReconcilerOptions, 'db' | 'deps'>, logger: Logger) {
  const reconciler = new Reconciler({
    ...options,
    temporal: openClient(process.env),
    graceMs: 30_000,
    logger,
    count: () => {},
  });
  return repeat({ pass: () => reconciler.pass(), everyMs: 5_000, logger, failure: 'The reconciler failed' });
}

function wire(sweep: SweepEnv, logger: Logger): Wired {
  const faults = fileFaultSource(sweep.SWEEP_DIR);
  const open = (env: CommonEnv): { resources: Resources; extensions: Extensions } => {
    const ours = extensionsOf();
    const extensions = { ...ours, sourceTools: withFailingTargets(ours.sourceTools, faults) };
    const resources = openResources({
      databaseUrl: env.COUNTERSIGN_DATABASE_URL,
      applicationName: `sweep-${sweep.SWEEP_ROLE}`,
      trustedOperators: readTrustFile(env.COUNTERSIGN_TRUST_FILE).operators,
      extensions,
      logger,
    });
    return { resources: { ...resources, ledger: withFailingLedger(resources.ledger, faults) }, extensions };
  };
  switch (sweep.SWEEP_ROLE) {
    case 'review': {
      const env = readEnv(ReviewEnv, process.env);
      const key = readKey(env, 'attestor');
      const opened = open(env);
      const { sourceTools, validators } = opened.extensions;
      const activities = reviewActivities({
        ...opened,
        attestor: attestorWith(key),
        // Not read: they would hold changes that the sweep expects to commit. Their rows are written by the committer.
        breakers: null,
        // No threads: a worker that is killed every few seconds must restart quickly, and the threads perform no writes.
        threads: withFailingRules(inlineDerivation({ tools: sourceTools, validators }), faults),
      });
      return { activities, resources: opened.resources };
    }
    case 'judge': {
      const env = readEnv(JudgeEnv, process.env);
      const key = readKey(env, 'attestor');
      const opened = open(env);
      const activities = judgeActivities({
        ...opened,
        attestor: attestorWith(key),
        key,
        transport: { baseUrl: env.OPENAI_BASE_URL, apiKey: env.OPENAI_API_KEY ?? 'none' },
        prices: {},
      });
      return { activities, resources: opened.resources };
    }
    case 'commit': {
      const env = readEnv(CommitEnv, process.env);
      const key = readKey(env, 'committer');
      const opened = open(env);
      const role = {
        ...opened,
        receipts: receiptSignerWith(key),
        targets: readTargets(env.COUNTERSIGN_TARGETS_FILE),
        slots: targetSlots(env.COUNTERSIGN_TARGET_CONCURRENCY),
        payloadKeys: null,
        threads: null,
      };
      const { resources } = opened;
      return { activities: commitActivities(role), resources, reconcile: { db: resources.db, deps: commitDeps(role) } };
    }
    default:
      return sweep.SWEEP_ROLE satisfies never;
  }
}
