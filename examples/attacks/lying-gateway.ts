import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { evidenceChecksum, type EvidenceBundle } from '../../policy/evidence/bundle';

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
          response.end(answer.ok ? toText(edit({ method, path }, JSON.parse(text))) : text);
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

/** An edited review gets the canonical form and the checksum that a client expects, neither of which needs a key. */
function toText(body: unknown): string {
  if (typeof body !== 'object' || body === null || !('format' in body)) return JSON.stringify(body);
  return `${canonicalJson({ ...body, sha256: evidenceChecksum(body as unknown as EvidenceBundle) })}\n`;
}
