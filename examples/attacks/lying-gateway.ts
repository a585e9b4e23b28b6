import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LyingGateway {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** A proxy before the real gateway that changes its JSON responses. `edit` gets method, path and body, and returns another body. */
export async function startLyingGateway(
  upstream: string,
  edit: (request: { readonly method: string; readonly path: string }, body: unknown) => unknown,
): Promise<LyingGateway> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = 'GET', url: path = '/' } = request;
      const { authorization = '' } = request.headers;
      const body = Buffer.concat(chunks);
      fetch(`${upstream}${path}`, {
        method,
        headers: { authorization, 'content-type': request.headers['content-type'] ?? 'application/json' },
        ...(body.length === 0 ? {} : { body }),
      })
        .then(async (answer) => {
          const text = await answer.text();
          response.writeHead(answer.status, { 'content-type': 'application/json' });
          response.end(answer.ok ? JSON.stringify(edit({ method, path }, JSON.parse(text))) : text);
        })
        .catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections())),
  };
}
