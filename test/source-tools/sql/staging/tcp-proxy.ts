import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** What happens to a connection when the client sends COMMIT, or another command that the proxy waits for. */
export type AtCommit = 'pass' | 'drop-before' | 'drop-once' | 'drop-after';

/** A loopback proxy to a PostgreSQL server that can drop the connection at COMMIT, before it is forwarded or after it was executed. */
export interface Proxy {
  readonly url: (through: string) => string;
  readonly set: (mode: AtCommit) => void;
  readonly stop: () => Promise<void>;
}

export async function startProxy(port: number, command = 'COMMIT'): Promise<Proxy> {
  let mode: AtCommit = 'pass';
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let muted = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (mode !== 'pass' && chunk.includes(`${command}\0`)) {
        if (mode === 'drop-once') mode = 'pass';
        else if (mode === 'drop-after') muted = true;
        if (!muted) return void client.destroy();
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      // The server has responded, so it has committed. The client does not get the response.
      if (muted) client.destroy();
      else client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ownPort = (server.address() as AddressInfo).port;
  return {
    url: (through) => Object.assign(new URL(through), { hostname: '127.0.0.1', port: String(ownPort) }).href,
    set: (next) => {
      mode = next;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
