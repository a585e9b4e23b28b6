import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';
import type { Env } from './config';

/** Address, namespace, TLS and API key as Temporal's own variables and profile file say (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TLS_*, TEMPORAL_API_KEY). */
function connectConfig(env: Env): ReturnType<typeof loadClientConnectConfig> {
  const overrideEnvVars = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return loadClientConnectConfig({ overrideEnvVars });
}

export interface WorkerConnection {
  readonly connection: NativeConnection;
  readonly namespace: string;
}

export async function connectWorker(env: Env): Promise<WorkerConnection> {
  const { connectionOptions, namespace = 'default' } = connectConfig(env);
  return { connection: await NativeConnection.connect(connectionOptions), namespace };
}

/** Connects lazily, so that a short outage at start is the first call's trouble, with its own clear error. */
export function openClient(env: Env): Client {
  const { connectionOptions, namespace = 'default' } = connectConfig(env);
  const connection = Connection.lazy({ ...connectionOptions } as Parameters<typeof Connection.lazy>[0]);
  return new Client({ connection, namespace });
}
