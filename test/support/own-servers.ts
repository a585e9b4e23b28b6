import { msToTs } from '@temporalio/common/lib/time';
import { openConnection } from '../../workers/temporal';
import { testServer } from './test-server';

/** A PostgreSQL server for one file, and a namespace of the Temporal server that all system tests share: what a user's own servers are. */
export interface OwnServers {
  readonly temporalAddress: string;
  readonly namespace: string;
  /** URL of an administrator. */
  adminUrl(database: string): string;
  createDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
}

let namespaces = 0;

/** An empty namespace of the Temporal server that all system tests share. */
export async function newNamespace(): Promise<{ readonly temporalAddress: string; readonly namespace: string }> {
  const temporalAddress = process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '127.0.0.1:7233';
  const namespace = `own-${process.pid}-${Date.now().toString(36)}-${++namespaces}`;
  const connection = await openConnection({ TEMPORAL_ADDRESS: temporalAddress });
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
  } finally {
    await connection.close();
  }
  return { temporalAddress, namespace };
}

export async function ownServers(): Promise<OwnServers> {
  const postgres = await testServer(true);
  return {
    ...(await newNamespace()),
    adminUrl: (database) => postgres.superuserUrl(database),
    createDatabase: async (name) => void (await postgres.createDatabase(name)),
    stop: () => postgres.stop(),
  };
}
