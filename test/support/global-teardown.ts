import type { Runtime } from '../../dev/embedded/runtime';
import type { PostgresServer } from '../../dev/embedded/postgres';

export default async function globalTeardown(): Promise<void> {
  await (globalThis as { countersignRuntime?: Runtime }).countersignRuntime?.stop();
  const { countersignServers = [] } = globalThis as { countersignServers?: readonly PostgresServer[] };
  for (const server of countersignServers) await server.stop();
}
