/**
 * The only way from here to a model's server.
 *
 * B1 Hosts outside the allow-list, and redirects of any kind, get nothing: a 307 would carry the diff to another origin.
 * B2 Only the headers named here are sent: the client library adds some from the environment of the process.
 * B3 The body is read to its end or to a bound, under the caller's signal, and handed on as text; what is no UTF-8 is refused,
 *    since a decoder that mends it would hand on what nobody wrote.
 * B4 The platform's fetch sends a body that it can read twice again after a 421. Ours can be read once, so one call is one
 *    request.
 * B5 An answer that writes our key back is refused whole: it would end in a ledger.
 */
import type { JudgeCause } from '../../policy/decide/judge-failure';

export const MAX_BODY_BYTES = 1024 * 1024;

const HEADERS = new Set(['accept', 'authorization', 'content-type', 'user-agent']);

/** Shorter keys are words such as "none", which any answer may hold. */
const MIN_SECRET = 16;

/** What stops a request before its answer is complete. Caught in `transport.ts`; never crosses a process. */
export class FetchRefused extends Error {
  constructor(
    readonly judgeCause: JudgeCause,
    message: string,
    readonly retryable: boolean,
  ) {
    super(message);
    this.name = 'FetchRefused';
  }
}

export interface BoundedFetch {
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
}

/** `allowedHosts` as in `URL.host`: with the port where it is not the scheme's own. */
export function createBoundedFetch(allowedHosts: readonly string[]): BoundedFetch {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  return {
    fetch: async (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      if (!allowed.has(url.host))
        throw new FetchRefused('host_not_allowed', `the host ${url.host} is not among the allowed ones`, false);
      const { signal, body } = init ?? {};
      if (typeof body !== 'string') throw new TypeError(`body: expected a text, got ${typeof body}`);
      // As bytes: the runtime keeps what it is given until a full collection, and a text would be copied each time before.
      const bytes = Buffer.from(body);
      const headers = onlyOurs(init?.headers);
      headers.set('content-length', String(bytes.byteLength));
      const response = await globalThis.fetch(url, {
        method: init?.method ?? 'POST',
        headers,
        redirect: 'manual',
        body: readOnce(bytes),
        duplex: 'half',
        ...(signal === undefined || signal === null ? {} : { signal }),
      });
      if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
        await drop(response);
        throw new FetchRefused(
          'redirect',
          `the server redirects (${response.status}); set the base URL to where it points`,
          false,
        );
      }
      const text = await readBounded(response);
      if (response.ok && writesBack(headers.get('authorization') ?? '', text, response.headers))
        throw new FetchRefused('bad_envelope', "the server's answer holds the key that it was sent", false);
      return new Response(nullBody(response.status) ? null : text, {
        status: response.status,
        statusText: response.statusText,
        headers: response.headers,
      });
    },
  };
}

function onlyOurs(headers: RequestInit['headers'] | undefined): Headers {
  const kept = new Headers({ 'accept-encoding': 'identity' });
  new Headers(headers).forEach((value, name) => {
    if (HEADERS.has(name)) kept.set(name, value);
  });
  return kept;
}

function readOnce(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}

function writesBack(authorization: string, text: string, headers: Headers): boolean {
  const key = authorization.slice(authorization.indexOf(' ') + 1);
  return key.length >= MIN_SECRET && [text, ...headers.values()].some((written) => written.includes(key));
}

async function readBounded(response: Response): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > MAX_BODY_BYTES) {
      await reader.cancel();
      throw new FetchRefused('too_large', `the server's answer is longer than ${MAX_BODY_BYTES} bytes`, true);
    }
    chunks.push(value);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new FetchRefused('not_json', "the server's answer is no UTF-8 text", true);
  }
}

async function drop(response: Response): Promise<void> {
  await response.body?.cancel();
}

/** Statuses for which a Response may have no body. */
function nullBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}
