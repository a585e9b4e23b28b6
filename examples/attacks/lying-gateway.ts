import { startLoopbackServer } from '../../dev/fixtures/loopback-server';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { evidenceChecksum, type EvidenceBundle } from '../../policy/evidence/bundle';

/** Runs `work` with a proxy before the real gateway. `edit` gets path and JSON body of a response, and returns another body. */
export async function withLyingGateway<T>(
  gatewayUrl: string,
  edit: (path: string, body: unknown) => unknown,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const server = await startLoopbackServer(async (request, response, body) => {
    const { method = 'GET', url: path = '/', headers } = request;
    const answer = await fetch(`${gatewayUrl}${path}`, {
      method,
      headers: {
        authorization: headers.authorization ?? '',
        'content-type': headers['content-type'] ?? 'application/json',
      },
      ...(body === '' ? {} : { body }),
    });
    const text = await answer.text();
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(answer.ok ? toText(edit(path, JSON.parse(text))) : text);
  });
  try {
    return await work(server.url);
  } finally {
    await server.stop();
  }
}

/** An edited review gets the canonical form and the checksum that a client expects, neither of which needs a key. */
function toText(body: unknown): string {
  if (typeof body !== 'object' || body === null || !('format' in body)) return JSON.stringify(body);
  return `${canonicalJson({ ...body, sha256: evidenceChecksum(body as unknown as EvidenceBundle) })}\n`;
}
