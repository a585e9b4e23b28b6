import { once } from 'node:events';
import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { messageOf } from '../client/errors';
import { ConfigError } from './config-error';

interface ListenAddress {
  readonly hostname: string;
  readonly port: number;
  /** The environment variable that configures the address. */
  readonly variable: string;
  readonly idleMs?: number;
}

/** Longer than any response waits: two of the longest polls. */
const IDLE_MS = 120_000;
/** Longer than proxies keep idle connections: with Node's five seconds they send requests on connections that end meanwhile. */
const KEPT_MS = 75_000;

/** In use, or of an interface that is not up yet: a later start can succeed, so a supervisor must try it. */
const TEMPORARY: readonly unknown[] = ['EADDRINUSE', 'EADDRNOTAVAIL'];

/**
 * Serves HTTP at an address. A connection on which no byte moves for `idleMs` ends: its client may have stopped reading. Throws an error
 * that names the variable of the address if it cannot be used, ConfigError if it never can.
 */
export async function listen(
  { fetch }: Pick<Hono, 'fetch'>,
  { hostname, port, variable, idleMs = IDLE_MS }: ListenAddress,
): Promise<Server> {
  // Without another `createServer` in its options, a server of HTTP/1.1.
  const server = createAdaptorServer({ fetch }) as Server;
  server.setTimeout(idleMs);
  server.keepAliveTimeout = KEPT_MS;
  try {
    server.listen(port, hostname);
    await once(server, 'listening');
  } catch (error) {
    const text = `${variable}: cannot listen on ${hostname}:${port}: ${messageOf(error)}`;
    throw TEMPORARY.includes((error as NodeJS.ErrnoException).code) ? new Error(text) : new ConfigError(text);
  }
  return server;
}
