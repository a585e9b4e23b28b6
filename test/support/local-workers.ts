import { DefaultLogger, makeTelemetryFilterString, type NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import type { KeyRing } from '../../storage/store/preview-cipher';
import { createPayloadCodec } from '../../workers/encryption/payload-codec';
import { REVIEW_WORKER, workerOptions } from '../../workers/run-worker';
import type { WorkerRole } from '../../policy/contracts/queues';

export interface LocalWorkersOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** Of the task queues. */
  readonly suffix: string;
  readonly activities: Readonly<Record<WorkerRole, object>>;
  /** Bundled once for all review workers, because bundling takes seconds. */
  readonly workflowBundlePath: string;
  readonly payloadKeys?: KeyRing | undefined;
  /** Workflows that the review worker keeps in memory. */
  readonly maxCachedWorkflows?: number | undefined;
}

/** The three workers, each of which can be started and stopped in this process. */
export interface LocalWorkers {
  start(role: WorkerRole): Promise<void>;
  /** Stops gracefully; resolves when the worker has stopped. */
  stop(role: WorkerRole): Promise<void>;
  stopAll(): Promise<void>;
  /** Workflows in the memory of the review worker; 0 if it does not run. */
  cachedWorkflows(): number;
}

export function localWorkers(options: LocalWorkersOptions): LocalWorkers {
  const { connection, namespace, suffix, activities, payloadKeys } = options;
  const running = new Map<WorkerRole, { readonly worker: Worker; readonly ended: Promise<void> }>();
  const { maxCachedWorkflows } = options;
  const ofReviews = {
    workflowBundle: { codePath: options.workflowBundlePath },
    ...REVIEW_WORKER,
    ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
  };
  const stop = async (role: WorkerRole): Promise<void> => {
    const started = running.get(role);
    if (started === undefined) return;
    running.delete(role);
    started.worker.shutdown();
    await started.ended;
  };
  return {
    async start(role) {
      const taskQueue = TASK_QUEUES[role] + suffix;
      const worker = await Worker.create({
        ...(await workerOptions({ taskQueue, activities: activities[role], workflows: false })),
        ...(role === 'review' ? ofReviews : {}),
        ...(payloadKeys === undefined ? {} : { dataConverter: { payloadCodecs: [createPayloadCodec(payloadKeys)] } }),
        connection,
        namespace,
      });
      running.set(role, { worker, ended: worker.run() });
    },
    stop,
    async stopAll() {
      for (const role of [...running.keys()]) await stop(role);
    },
    cachedWorkflows: () => running.get('review')?.worker.getStatus().numCachedWorkflows ?? 0,
  };
}

/** Lets Temporal's native part log from this level on. Once per process, or per file in Jest: it ends with its last connection. */
export function quietRuntime(level: 'ERROR' | 'WARN'): void {
  if ((Runtime as unknown as { readonly _instance?: unknown })._instance !== undefined) return;
  Runtime.install({
    logger: new DefaultLogger(level),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: level, other: 'ERROR' }), forward: {} } },
  });
}
