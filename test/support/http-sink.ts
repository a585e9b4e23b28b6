import type { IncomingHttpHeaders } from 'node:http';
import { startLoopbackServer } from '../../dev/fixtures/loopback-server';

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
  const server = await startLoopbackServer((request, response, body) => {
    requests.push({ path: request.url ?? '', headers: request.headers, body });
    response.writeHead(sink.status, { location: 'http://127.0.0.1:1/elsewhere' }).end();
  });
  return {
    url: server.url,
    requests,
    get status() {
      return sink.status;
    },
    set status(value) {
      sink.status = value;
    },
    close: server.stop,
  };
}
