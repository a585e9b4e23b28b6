import { startLoopbackServer, type LoopbackServer } from '../../dev/fixtures/loopback-server';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { evidenceChecksum, type EvidenceBundle } from '../../policy/evidence/bundle';

/** A proxy before the real gateway that changes its JSON responses. `edit` gets method, path and body, and returns another body. */
export async function startLyingGateway(
  upstream: string,
  edit: (request: { readonly method: string; readonly path: string }, body: unknown) => unknown,
): Promise<LoopbackServer> {
  return startLoopbackServer(async (request, response, body) => {
    const { method = 'GET', url: path = '/', headers } = request;
    const answer = await fetch(`${upstream}${path}`, {
      method,
      headers: {
        authorization: headers.authorization ?? '',
        'content-type': headers['content-type'] ?? 'application/json',
      },
      ...(body === '' ? {} : { body }),
    });
    const text = await answer.text();
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(answer.ok ? toText(edit({ method, path }, JSON.parse(text))) : text);
  });
}

/** An edited review gets the canonical form and the checksum that a client expects, neither of which needs a key. */
function toText(body: unknown): string {
  if (typeof body !== 'object' || body === null || !('format' in body)) return JSON.stringify(body);
  return `${canonicalJson({ ...body, sha256: evidenceChecksum(body as unknown as EvidenceBundle) })}\n`;
}
