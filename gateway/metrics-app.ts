import { Hono } from 'hono';
import type { GatewayMetrics } from './metrics';

/**
 * GET /metrics, for a separate port: agents and approvers who can reach the gateway must not read it. `refresh` brings the metrics up to
 * date first.
 */
export function createMetricsApp({ registry }: GatewayMetrics, refresh: () => Promise<void>): Hono {
  const app = new Hono();
  app.get('/metrics', async (c) => {
    await refresh();
    return c.text(await registry.metrics(), 200, { 'Content-Type': registry.contentType });
  });
  return app;
}
