import { createServer, type Server } from 'node:net';
import { FIRST_HEALTH_PORT } from '../../cli/init/request';
import { listenOnLoopback } from '../../dev/fixtures/loopback-server';
import { listenOnReusablePort } from './listening-port';

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/** A port for the gateway of `init`, of which the ports that it gives to the workers are free too. */
export async function freeGatewayPort(): Promise<number> {
  for (let attempts = 20; ; attempts--) {
    const first = createServer();
    const open = [first];
    try {
      const port = await listenOnReusablePort(first);
      for (const i of [0, 1, 2]) {
        const next = createServer();
        await listenOnLoopback(next, port + FIRST_HEALTH_PORT + i);
        open.push(next);
      }
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || attempts === 0) throw error;
    } finally {
      await Promise.all(open.map(close));
    }
  }
}
