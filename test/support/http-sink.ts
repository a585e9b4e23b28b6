import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SunkRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HttpSink {
  readonly url: string;
  readonly requests: readonly SunkRequest[];
  /** Status of the next responses. Default 204. */
  status: number;
  close(): Promise<void>;
}

/** A server on loopback that keeps every request. */
export async function startHttpSink(): Promise<HttpSink> {
  const requests: SunkRequest[] = [];
  const sink = { status: 204 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      requests.push({
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      });
      response.writeHead(sink.status, { location: 'http://127.0.0.1:1/elsewhere' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get status() {
      return sink.status;
    },
    set status(value) {
      sink.status = value;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
