/**
 * The only way from here to a model's server.
 *
 * B1 Hosts outside the allow-list, and redirects of any kind, get nothing: a 307 would carry the diff to another origin.
 * B2 Only the headers named here are sent: the client library adds some from the environment of the process.
 * B3 The body is read to its end or to a bound, under the caller's signal, and handed on as text.
 */
import type { JudgeCause } from '../../policy/judge/failure';

export const MAX_BODY_BYTES = 1024 * 1024;

const HEADERS = new Set(['accept', 'authorization', 'content-type', 'user-agent']);

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
      const response = await globalThis.fetch(url, {
        method: init?.method ?? 'POST',
        headers: onlyOurs(init?.headers),
        redirect: 'manual',
        // As bytes: the runtime keeps what it is given until a full collection, and a text would be copied each time before.
        ...(body === undefined || body === null ? {} : { body: typeof body === 'string' ? Buffer.from(body) : body }),
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
  return new TextDecoder('utf-8', { fatal: false }).decode(Buffer.concat(chunks));
}

async function drop(response: Response): Promise<void> {
  await response.body?.cancel();
}

/** Statuses for which a Response may have no body. */
function nullBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}
