import { type NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { failureInterceptor } from '../activities/failure-interceptor';
import { sha256HexOfText } from '../policy/contracts/hash';
import type { Env } from './config';
import type { Logger } from './logger';
import { sayReady } from './say-ready';
import { dataConverter } from './temporal';
import { temporalLogger } from './temporal-logger';
import { traceActivities } from './tracing';
import { connectScreened } from './screen/screened-connection';
import { connectWorker } from './worker-connection';
import { workflowBundle } from './workflow-bundle';

interface WorkerRun {
  readonly env: Env;
  readonly logger: Logger;
  readonly taskQueue: string;
  readonly activities: object;
  /** True only for the review worker. */
  readonly workflows: boolean;
  /** Workflows that stay in memory. Default: the SDK's, by the heap of Node. */
  readonly maxCachedWorkflows?: number | undefined;
  /** Across all workers of the queue. Use it for the rate limit of a provider. */
  readonly maxTaskQueueActivitiesPerSecond?: number;
  readonly metricsPort?: number | undefined;
  readonly onStart?: (worker: Worker) => void;
}

/** Runs one worker until SIGINT or SIGTERM. It then drains: no new tasks, and 10 s for running activities. */
export async function runWorker(run: WorkerRun): Promise<void> {
  const { logger, metricsPort } = run;
  Runtime.install({
    logger: temporalLogger(logger),
    telemetryOptions:
      metricsPort === undefined ? {} : { metrics: { prometheus: { bindAddress: `127.0.0.1:${metricsPort}` } } },
  });
  const { connection, namespace, closeProxy } = run.workflows
    ? await connectScreened(run.env, logger)
    : { ...(await connectWorker(run.env)), closeProxy: undefined };
  try {
    const worker = await Worker.create({
      ...(await workerOptions(run)),
      ...(run.workflows ? versioning(run.taskQueue, run.env['COUNTERSIGN_BUILD_ID']) : {}),
      ...dataConverter(run.env),
      connection,
      namespace,
    });
    logger.info({ taskQueue: run.taskQueue, namespace }, 'worker started');
    run.onStart?.(worker);
    sayReady();
    await worker.run();
    logger.info('worker stopped');
  } finally {
    await closeQuietly(connection, logger);
    await closeProxy?.();
  }
}

/**
 * With a build id a review stays on the build that it started with (Temporal worker versioning). New reviews go to the build that
 * `temporal worker deployment set-current-version` names, and to none before it names one. The deployment has the queue's name.
 */
export function versioning(
  taskQueue: string,
  buildId: string | undefined,
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (buildId === undefined || buildId === '') return {};
  return {
    workerDeploymentOptions: {
      version: { deploymentName: taskQueue, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    },
  };
}

/**
 * A task that finds no waiting poll is stored and read again by the server. With the default minimum of 1, that happens to two tasks of
 * each review while six reviews are open.
 */
const POLLERS = { type: 'autoscaling', minimum: 5 } as const;

/** Options of every worker that runs review workflows, in production, in development and in tests. */
export const REVIEW_WORKER = {
  // Node can abort the whole process with "async hook stack has become corrupted" if the promises of a workflow are interrupted at
  // this limit (nodejs/node#38503, open for Node 20). The default of 5 s is wall-clock time, and the replay of a long history on a
  // starved machine takes longer. No review computes for a minute. The SDK reads this option, but its public type does not have it.
  isolateExecutionTimeout: '60 s',
  workflowTaskPollerBehavior: POLLERS,
  // A task that waits longer for its cached run goes to the normal queue, where a query brings the whole history and is refused if
  // it ran ahead. The default of 10 s is short for a starved worker; the tasks of a dead worker wait this long.
  stickyQueueScheduleToStartTimeout: '30 s',
} as const;

export async function workerOptions(
  run: Pick<
    WorkerRun,
    'taskQueue' | 'activities' | 'workflows' | 'maxCachedWorkflows' | 'maxTaskQueueActivitiesPerSecond'
  >,
): Promise<Omit<WorkerOptions, 'connection' | 'namespace'>> {
  return {
    taskQueue: run.taskQueue,
    activities: run.activities,
    // In this order: the span of an activity records the failure's type as Temporal sees it.
    interceptors: { activity: [traceActivities, failureInterceptor] },
    shutdownGraceTime: '10 s',
    // A cancellation reaches an activity with the response to its heartbeat. The default throttle interval would delay it by 12 s.
    maxHeartbeatThrottleInterval: '4 s',
    defaultHeartbeatThrottleInterval: '4 s',
    ...(run.workflows
      ? {
          ...(await workflowCode()),
          ...REVIEW_WORKER,
          ...(run.maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows: run.maxCachedWorkflows }),
        }
      : {}),
    activityTaskPollerBehavior: POLLERS,
    ...(run.maxTaskQueueActivitiesPerSecond === undefined
      ? {}
      : { maxTaskQueueActivitiesPerSecond: run.maxTaskQueueActivitiesPerSecond }),
  };
}

/** Each workflow task names the build twice in the history. The SDK's name for it is five times as long. */
const BUILD_NAME_LENGTH = 16;

/** The workflows, and the digest of their code as the build id. With `versioning` the worker has another build id. */
async function workflowCode(): Promise<Required<Pick<WorkerOptions, 'workflowBundle' | 'buildId'>>> {
  const code = await workflowBundle();
  return { workflowBundle: { code }, buildId: sha256HexOfText(code).slice(0, BUILD_NAME_LENGTH) };
}

async function closeQuietly(connection: NativeConnection, logger: Logger): Promise<void> {
  try {
    await connection.close();
  } catch (error) {
    logger.warn({ error: String(error) }, 'The connection to Temporal did not close cleanly');
  }
}
