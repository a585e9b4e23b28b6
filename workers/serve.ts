import { once, setMaxListeners } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Hono } from 'hono';
import { listen } from './listen';
import type { Logger } from './logger';
import { onStopSignal } from './on-stop-signal';
import { sayReady } from './say-ready';

/** Shorter than the 15 s after which `up` kills the process. */
const LAST_REQUESTS_MS = 10_000;

/** Aborts on the first signal that asks this process to stop. Streams and long waits of the app must end with it. */
export function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  // Each stream and each long poll listens to it.
  setMaxListeners(0, stopping.signal);
  onStopSignal(() => stopping.abort());
  return stopping.signal;
}

type Served = Parameters<typeof listen>[1] & {
  readonly stopping: AbortSignal;
  readonly logger: Pick<Logger, 'info'>;
  /** Called when it listens. Default: tells the parent process. */
  readonly listens?: () => void;
};

/** Serves HTTP until `stopping`, then waits for open requests, at most ten seconds. */
export async function serveUntilStopped(
  app: Pick<Hono, 'fetch'>,
  { logger, stopping, listens = sayReady, ...address }: Served,
): Promise<void> {
  const fetch: Hono['fetch'] = async (...request) => {
    const response = await app.fetch(...request);
    // Otherwise a client that keeps its connection could send the next request, again and again.
    if (stopping.aborted) response.headers.set('Connection', 'close');
    return response;
  };
  const server = await listen({ fetch }, address);
  logger.info({ port: (server.address() as AddressInfo).port }, 'listening');
  listens();
  if (!stopping.aborted) await once(stopping, 'abort');
  // For connections of streams: their headers were sent before.
  server.keepAliveTimeout = 1;
  const closed = once(server, 'close');
  server.close();
  const timer = setTimeout(() => server.closeAllConnections(), LAST_REQUESTS_MS);
  await closed;
  clearTimeout(timer);
}
