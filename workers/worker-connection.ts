import { NativeConnection } from '@temporalio/worker';
import type { Env } from './config';
import { connectConfig } from './temporal';

export interface WorkerConnection {
  readonly connection: NativeConnection;
  readonly namespace: string;
}

/** The connection of a worker. Separate from `temporal.ts`, since its native library loads slowly and the CLI does not need it. */
export async function connectWorker(env: Env): Promise<WorkerConnection> {
  const { connectionOptions, namespace = 'default' } = connectConfig(env);
  return { connection: await NativeConnection.connect(connectionOptions), namespace };
}
