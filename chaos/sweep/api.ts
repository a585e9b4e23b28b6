import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP target for the sweep: one JSON resource per row, conditional requests, and a count of applied writes. */
export interface SweepApi {
  readonly url: string;
  /** How many writes to the row's resource were applied. */
  readonly applied: (row: number) => number;
  /** Simulates a concurrent write by another client. */
  readonly overtake: (row: number) => void;
  readonly stop: () => Promise<void>;
}

interface Resource {
  document: Readonly<Record<string, unknown>>;
  applied: number;
}

export async function startApi(): Promise<SweepApi> {
  const resources = new Map<string, Resource>();
  const at = (path: string): Resource => {
    const found = resources.get(path) ?? { document: { cents: 500 }, applied: 0 };
    resources.set(path, found);
    return found;
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const resource = at(request.url ?? '/');
      const etag = (): string =>
        `"${createHash('sha256').update(JSON.stringify(resource.document)).digest('hex').slice(0, 16)}"`;
      const answer = (status: number): void => {
        response.writeHead(status, { 'content-type': 'application/json', etag: etag() });
        response.end(JSON.stringify(resource.document));
      };
      if (request.method === 'GET') return answer(200);
      if (request.headers['if-match'] !== etag()) return answer(412);
      const patch = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Resource['document'];
      resource.document = { ...resource.document, ...patch };
      resource.applied++;
      return answer(200);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/rows`,
    applied: (row) => at(`/rows/${row}`).applied,
    overtake: (row) => {
      const resource = at(`/rows/${row}`);
      resource.document = { ...resource.document, by: 'another client' };
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
