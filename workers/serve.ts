import { serve } from '@hono/node-server';
import type { Hono } from 'hono';
import type { Logger } from './logger';
import { sayReady } from './say-ready';

/** Serves HTTP until SIGINT or SIGTERM, then waits for open requests. */
export async function serveUntilStopped(
  app: Hono,
  { hostname, port, logger }: { readonly hostname: string; readonly port: number; readonly logger: Logger },
): Promise<void> {
  const server = serve({ fetch: app.fetch, hostname, port }, (address) => {
    logger.info({ port: address.port }, 'listening');
    sayReady();
  });
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
