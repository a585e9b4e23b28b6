import type { AddressInfo } from 'node:net';
import type { Hono } from 'hono';
import { listen } from './listen';
import type { Logger } from './logger';
import { sayReady } from './say-ready';

/** Serves HTTP until SIGINT or SIGTERM, then waits for open requests. */
export async function serveUntilStopped(
  app: Hono,
  { logger, ...address }: Parameters<typeof listen>[1] & { readonly logger: Logger },
): Promise<void> {
  const server = await listen(app, address);
  logger.info({ port: (server.address() as AddressInfo).port }, 'listening');
  sayReady();
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
