import { NativeConnection } from '@temporalio/worker';
import type { Env } from './config';
import { connectConfig } from './temporal';

export interface WorkerConnection {
  readonly connection: NativeConnection;
  readonly namespace: string;
}

/** A worker's own kind of connection, apart from `temporal.ts`: its library takes a while to load, which no command should wait for. */
export async function connectWorker(env: Env): Promise<WorkerConnection> {
  const { connectionOptions, namespace = 'default' } = connectConfig(env);
  return { connection: await NativeConnection.connect(connectionOptions), namespace };
}
