import { TASK_QUEUES, type WorkerRole } from '../policy/contracts/queues';
import type { LoadedKey } from '../signing/key-file';
import { readKey, readTrustFile, type RoleEnv } from './config';
import { loadExtensions, type Extensions } from './extensions';
import type { WorkerHealth } from './health/worker-health';
import type { Logger } from './logger';
import { openResources, type Resources } from './resources';
import { runWorker } from './run-worker';

export interface Role {
  readonly queue: WorkerRole;
  readonly keyKind: LoadedKey['kind'];
  readonly env: RoleEnv;
  readonly logger: Logger;
  readonly wire: (context: RoleContext) => Wiring;
}

/** What every role has after its start. */
interface RoleContext {
  readonly key: LoadedKey;
  readonly extensions: Extensions;
  readonly resources: Resources;
}

/** What differs between the roles. */
interface Wiring {
  readonly activities: object;
  /** Called after the worker has drained, before the database is closed. */
  readonly close?: () => Promise<void>;
  readonly maxTaskQueueActivitiesPerSecond?: number;
  readonly maxCachedWorkflows?: number | undefined;
}

/** The common path of the three worker processes: key, extensions and database, then the worker until SIGINT or SIGTERM. */
export async function runRole({ queue, keyKind, env, logger, wire }: Role): Promise<void> {
  const key = readKey(env, keyKind);
  const extensions = await loadExtensions(env.COUNTERSIGN_EXTENSIONS);
  const resources = openResources({
    databaseUrl: env.COUNTERSIGN_DATABASE_URL,
    applicationName: `countersign-${queue}`,
    trustedOperators: readTrustFile(env.COUNTERSIGN_TRUST_FILE).operators,
    extensions,
    logger,
  });
  const workflows = queue === 'review';
  const health = await startHealth(env, workflows, logger);
  try {
    const { close, ...worker } = wire({ key, extensions, resources });
    try {
      await runWorker({
        env: process.env,
        logger,
        taskQueue: TASK_QUEUES[queue] + env.COUNTERSIGN_QUEUE_SUFFIX,
        workflows,
        metricsPort: env.COUNTERSIGN_METRICS_PORT,
        ...(health === null ? {} : { onStart: (running) => health.watch(running) }),
        ...worker,
      });
    } finally {
      await close?.();
    }
  } finally {
    await health?.close();
    await resources.db.close();
  }
}

/** Null without an address. Loaded on demand, because it loads an HTTP framework. */
async function startHealth(env: RoleEnv, workflows: boolean, logger: Logger): Promise<WorkerHealth | null> {
  const { COUNTERSIGN_HEALTH_ADDRESS: address, COUNTERSIGN_DATABASE_URL: databaseUrl } = env;
  if (address === undefined) return null;
  const { startWorkerHealth } = await import('./health/worker-health.js');
  return startWorkerHealth({ address, env: process.env, databaseUrl, workflows, logger });
}
