import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { listenOnLoopback } from '../../dev/fixtures/loopback-server';

/** Below the ports from which Linux (32768) and macOS (49152) choose one for an outgoing connection. */
const [FIRST, LAST] = [20_000, 32_000];

/**
 * Listens on a port of 127.0.0.1 that stays free after the server is closed: no outgoing connection of another process can
 * take it meanwhile, as it can with the ports that `listen(0)` gives.
 */
export async function listenOnReusablePort(server: Server): Promise<number> {
  for (let attempts = 100; ; attempts--) {
    try {
      return await listenOnLoopback(server, randomInt(FIRST, LAST));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || attempts === 0) throw error;
    }
  }
}

/** A free port of 127.0.0.1 for a process that starts later. */
export async function reusablePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnReusablePort(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
