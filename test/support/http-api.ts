import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../../source-tools/http/facts/json';
import { applyJsonPatch, applyMergePatch, readOperation } from '../../source-tools/http/facts/json-patch';

/** How the server misbehaves at the next requests. */
export interface Behaviour {
  /** What it does with a write: as specified; apply, then drop the connection; apply, then answer 500; apply and never answer; drop before applying; answer with this status without applying. */
  write: 'proper' | 'applies_then_drops' | 'applies_then_500' | 'applies_then_hangs' | 'drops' | number;
  read: 'proper' | 'drips' | 'huge' | 'redirects' | 'not_json' | 'drops' | number;
  etag: 'strong' | 'weak' | 'none' | 'constant';
  ignoresIfMatch: boolean;
  /** Repeats its earlier answer if an idempotency key is repeated. */
  replays: boolean;
  /** Called before a write is handled. */
  beforeWrite: () => void | Promise<void>;
  /** Called after a write was applied, before the answer is sent. */
  afterWrite: () => void;
}

export interface HttpApi {
  readonly url: string;
  readonly behaviour: Behaviour;
  /** Resources by path. */
  readonly documents: Map<string, Json>;
  /** Writes that were applied. */
  applied: number;
  readonly requests: { readonly method: string; readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  readonly reset: () => void;
  readonly stop: () => Promise<void>;
}

const PROPER: Behaviour = {
  write: 'proper',
  read: 'proper',
  etag: 'strong',
  ignoresIfMatch: false,
  replays: false,
  beforeWrite: () => {},
  afterWrite: () => {},
};

/** A real server on loopback with JSON resources, conditional requests, and a script for how to misbehave. */
export async function startHttpApi(): Promise<HttpApi> {
  const documents = new Map<string, Json>();
  const answers = new Map<string, number>();
  const behaviour: Behaviour = { ...PROPER };
  const server = createServer((request, response) => void handle(request, response));

  const etagOf = (document: Json): string | null => {
    const sha = createHash('sha256').update(JSON.stringify(document)).digest('hex').slice(0, 16);
    switch (behaviour.etag) {
      case 'strong':
        return `"${sha}"`;
      case 'weak':
        return `W/"${sha}"`;
      case 'constant':
        return '"one"';
      case 'none':
        return null;
      default:
        return behaviour.etag satisfies never;
    }
  };
  const answer = (response: ServerResponse, status: number, document?: Json): void => {
    const etag = document === undefined ? null : etagOf(document);
    response.writeHead(status, { 'content-type': 'application/json', ...(etag === null ? {} : { etag }) });
    response.end(document === undefined ? '{}' : JSON.stringify(document));
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', headers } = request;
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    api.requests.push({ method, path, headers });
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (method === 'GET') return read(request, response, path);
    await behaviour.beforeWrite();
    const document = documents.get(path);
    if (document === undefined) return answer(response, 404);
    if (typeof behaviour.write === 'number') return answer(response, behaviour.write);
    if (behaviour.write === 'drops') return void request.socket.destroy();
    const key = String(headers['idempotency-key']);
    const before = answers.get(key);
    if (behaviour.replays && before !== undefined) return answer(response, before, document);
    if (!behaviour.ignoresIfMatch && headers['if-match'] !== undefined && headers['if-match'] !== etagOf(document))
      return answer(response, 412);
    const after = applied(
      method,
      headers['content-type'] ?? '',
      document,
      JSON.parse(Buffer.concat(chunks).toString('utf8')) as Json,
    );
    if (after === undefined) return answer(response, 409);
    documents.set(path, after);
    answers.set(key, 200);
    api.applied++;
    behaviour.afterWrite();
    switch (behaviour.write) {
      case 'proper':
        return answer(response, 200, after);
      case 'applies_then_500':
        return answer(response, 500);
      case 'applies_then_drops':
        return void request.socket.destroy();
      case 'applies_then_hangs':
        return;
      default:
        return behaviour.write satisfies never;
    }
  }

  function read(request: IncomingMessage, response: ServerResponse, path: string): void {
    const document = documents.get(path);
    if (typeof behaviour.read === 'number') return answer(response, behaviour.read);
    if (document === undefined) return answer(response, 404);
    switch (behaviour.read) {
      case 'proper':
        return answer(response, 200, document);
      case 'drops':
        return void request.socket.destroy();
      case 'redirects':
        response.writeHead(302, { location: `${api.url}/elsewhere` });
        return void response.end();
      case 'not_json':
        response.writeHead(200, { 'content-type': 'text/html' });
        return void response.end('<p>hello');
      case 'huge':
        response.writeHead(200, { 'content-type': 'application/json' });
        return void response.end(`"${'x'.repeat(2 * 1024 * 1024)}"`);
      case 'drips': {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 20);
        request.socket.on('close', () => clearInterval(timer));
        return;
      }
      default:
        return behaviour.read satisfies never;
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const api: HttpApi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    behaviour,
    documents,
    applied: 0,
    requests: [],
    reset: () => {
      Object.assign(behaviour, PROPER);
      documents.clear();
      answers.clear();
      api.applied = 0;
      api.requests.length = 0;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return api;
}

function applied(method: string, contentType: string, document: Json, body: Json): Json | undefined {
  if (method === 'PUT') return body;
  if (contentType.startsWith('application/merge-patch+json')) return applyMergePatch(document, body);
  const operations = (body as Json[]).map((item) => readOperation(item));
  const result = applyJsonPatch(
    document as never,
    operations.flatMap((read) => (read.ok ? [read.operation] : [])),
  );
  return result.ok ? result.value : undefined;
}
