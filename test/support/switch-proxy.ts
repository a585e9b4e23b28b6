import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenOnLoopback } from '../../dev/fixtures/loopback-server';
import { listenOnReusablePort } from './listening-port';

/** A loopback proxy in front of a server that can simulate an outage: it closes open connections and refuses new ones. */
export interface SwitchProxy {
  readonly port: number;
  readonly down: () => Promise<void>;
  readonly up: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startSwitchProxy(to: { readonly host: string; readonly port: number }): Promise<SwitchProxy> {
  const sockets = new Set<Socket>();
  let server: Server | null = null;
  const newServer = (): Server =>
    createServer((client) => {
      const upstream = connect(to.port, to.host);
      for (const socket of [client, upstream]) {
        sockets.add(socket);
        socket.on('error', () => socket.destroy());
        socket.on('close', () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      client.pipe(upstream);
      upstream.pipe(client);
    });
  const close = async (): Promise<void> => {
    const old = server;
    server = null;
    const closed = new Promise<void>((resolve) => (old === null ? resolve() : old.close(() => resolve())));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const first = newServer();
  const port = await listenOnReusablePort(first);
  server = first;
  const up = async (): Promise<void> => {
    const next = newServer();
    await listenOnLoopback(next, port);
    server = next;
  };
  return { port, down: close, up, stop: close };
}
