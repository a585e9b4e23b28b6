import type { Client } from '@temporalio/client';
import type { Env } from '../workers/config';
import type { LocalClient } from '../workers/local-client';
import { openClient } from '../workers/temporal';

type Place = Pick<LocalClient, 'temporalAddress' | 'namespace'>;

/** Connects lazily to the Temporal server of this configuration. */
export function openTemporal(env: Env, { temporalAddress, namespace }: Place): Client {
  return openClient({ ...env, TEMPORAL_ADDRESS: temporalAddress, TEMPORAL_NAMESPACE: namespace });
}

/** Runs `work` with a client that is closed afterwards. */
export async function withTemporal<T>(env: Env, place: Place, work: (client: Client) => Promise<T>): Promise<T> {
  const client = openTemporal(env, place);
  try {
    return await work(client);
  } finally {
    await client.connection.close();
  }
}
