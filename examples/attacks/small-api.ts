import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The target of requests: one JSON resource on loopback, with ETags. */
export interface SmallApi {
  readonly url: string;
  /** The names of the headers of each request. */
  readonly headers: (readonly string[])[];
  readonly stop: () => Promise<void>;
}

export async function startSmallApi(): Promise<SmallApi> {
  let document = JSON.stringify({ on: false });
  const headers: (readonly string[])[] = [];
  const server = createServer((request, response) => {
    headers.push(Object.keys(request.headers));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method === 'PATCH') {
        const change = JSON.parse(Buffer.concat(chunks).toString('utf8')) as object;
        document = JSON.stringify({ ...(JSON.parse(document) as object), ...change });
      }
      const etag = `"${createHash('sha256').update(document).digest('hex').slice(0, 16)}"`;
      response.writeHead(200, { 'content-type': 'application/json', etag }).end(document);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    headers,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
