/**
 * The client of a model server, and the only HTTP path to it.
 *
 * B1 Sends nothing to another host and follows no redirect: a 307 would send the diff to another origin.
 * B2 Sends only the headers in `HEADERS`: the client library adds others from the process environment.
 * B3 Reads the body up to a limit, under the caller's signal, and rejects invalid UTF-8: a lenient decoder would insert
 *    replacement characters that the model did not write.
 * B4 The request body can be read once. fetch re-sends a replayable body after a 421, and one call must be one request.
 * B5 Rejects a response that contains our API key, because answers are stored in the ledger.
 */
import OpenAI from 'openai';
import type { JudgeCause } from '../../policy/decide/judge-failure';

const MAX_BODY_BYTES = 1024 * 1024;

const HEADERS = new Set(['accept', 'authorization', 'content-type', 'user-agent']);

/** Shorter keys are placeholders such as "none", which any answer may contain. */
const MIN_KEY_LENGTH = 16;

/** A request or response that violates B1, B3 or B5. `classify.ts` converts it to a CountersignFailure. */
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

/** `host` as in `URL.host`: with the port unless it is the default port of the scheme. */
export function createBoundedFetch(host: string): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.host !== host)
      throw new FetchRefused(
        'host_not_allowed',
        `the host ${url.host} is not the host of the base URL, ${host}`,
        false,
      );
    const { signal, body } = init ?? {};
    if (typeof body !== 'string') throw new TypeError(`body: expected a string, got ${typeof body}`);
    // Convert to bytes once: the runtime keeps the body until a full garbage collection, and would copy a string.
    const bytes = Buffer.from(body);
    const headers = allowedHeaders(init?.headers);
    headers.set('content-length', String(bytes.byteLength));
    const response = await globalThis.fetch(url, {
      method: init?.method ?? 'POST',
      headers,
      redirect: 'manual',
      body: singleUseStream(bytes),
      duplex: 'half',
      ...(signal === undefined || signal === null ? {} : { signal }),
    });
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
      await response.body?.cancel();
      throw new FetchRefused(
        'redirect',
        `the server answered with a redirect (${response.status}); set the base URL to the final address`,
        false,
      );
    }
    const text = await readBounded(response);
    if (response.ok && containsKey(headers.get('authorization') ?? '', text, response.headers))
      throw new FetchRefused('bad_envelope', "the server's answer contains the API key of the request", false);
    return new Response(mustHaveNullBody(response.status) ? null : text, {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };
}

function allowedHeaders(headers: RequestInit['headers'] | undefined): Headers {
  const kept = new Headers({ 'accept-encoding': 'identity' });
  new Headers(headers).forEach((value, name) => {
    if (HEADERS.has(name)) kept.set(name, value);
  });
  return kept;
}

function singleUseStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}

function containsKey(authorization: string, text: string, headers: Headers): boolean {
  const key = authorization.slice(authorization.indexOf(' ') + 1);
  return key.length >= MIN_KEY_LENGTH && [text, ...headers.values()].some((value) => value.includes(key));
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
    throw new FetchRefused('not_json', "the server's answer is not valid UTF-8", true);
  }
}

/** The Response constructor throws on a body with these statuses. */
function mustHaveNullBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/**
 * A client of an OpenAI-compatible server. It reads no key, address, organization or header from the process environment, never
 * retries, and sends requests to the host of `baseUrl` only.
 */
export function modelClient(baseUrl: string, apiKey: string): OpenAI {
  return new OpenAI({
    apiKey,
    baseURL: baseUrl,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: 'off',
    // Otherwise an authorization header in OPENAI_CUSTOM_HEADERS replaces that of our key.
    defaultHeaders: { authorization: `Bearer ${apiKey}` },
    fetch: createBoundedFetch(new URL(baseUrl).host),
  });
}
