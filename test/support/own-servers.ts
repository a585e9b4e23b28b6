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
  newNamespace(): Promise<string>;
  stop(): Promise<void>;
}

let namespaces = 0;

export async function ownServers(): Promise<OwnServers> {
  const postgres = await testServer(true);
  const temporalAddress = process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '127.0.0.1:7233';
  const newNamespace = async (): Promise<string> => {
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
    return namespace;
  };
  return {
    temporalAddress,
    namespace: await newNamespace(),
    adminUrl: (database) => postgres.superuserUrl(database),
    createDatabase: async (name) => void (await postgres.createDatabase(name)),
    newNamespace,
    stop: () => postgres.stop(),
  };
}
