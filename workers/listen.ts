import { once } from 'node:events';
import { createAdaptorServer, type ServerType } from '@hono/node-server';
import type { Hono } from 'hono';
import { messageOf } from '../client/errors';
import { ConfigError } from './config-error';

/** Serves HTTP at an address. Throws ConfigError that names the variable of the address if it cannot be used. */
export async function listen(
  { fetch }: Pick<Hono, 'fetch'>,
  { hostname, port, variable }: { readonly hostname: string; readonly port: number; readonly variable: string },
): Promise<ServerType> {
  const server = createAdaptorServer({ fetch });
  try {
    server.listen(port, hostname);
    await once(server, 'listening');
  } catch (error) {
    throw new ConfigError(`${variable}: cannot listen on ${hostname}:${port}: ${messageOf(error)}`);
  }
  return server;
}
