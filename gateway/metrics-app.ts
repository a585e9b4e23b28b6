import { Hono } from 'hono';
import type { GatewayMetrics } from './metrics';

/** GET /metrics, for a port of its own: agents and approvers who can reach the gateway must not read it. */
export function createMetricsApp({ registry }: GatewayMetrics): Hono {
  const app = new Hono();
  app.get('/metrics', async (c) => c.text(await registry.metrics(), 200, { 'Content-Type': registry.contentType }));
  return app;
}
