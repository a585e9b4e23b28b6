import { createAdaptorServer } from '@hono/node-server';
import { healthRoutes } from '../../gateway/health-routes';
import type { Probes } from '../../gateway/readiness';
import { ConfigError } from '../config-error';
import type { HealthAddress } from '../process-env';

/** Serves `/healthz` and `/readyz`. Throws ConfigError if the address cannot be used. */
export async function startHealthServer<Part extends string>(
  { hostname, port }: HealthAddress,
  probes: Probes<Part>,
): Promise<{ readonly close: () => Promise<void> }> {
  const server = createAdaptorServer({ fetch: healthRoutes(probes, Date.now).fetch });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new ConfigError(`COUNTERSIGN_HEALTH_ADDRESS: cannot listen on ${hostname}:${port}: ${error.message}`)),
    );
    server.listen(port, hostname, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}
