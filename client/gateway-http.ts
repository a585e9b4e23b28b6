import { utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { sha256Hex } from '../policy/contracts/hash';
import { CountersignError, ERROR_CODES, invalidInput, messageOf } from './errors';
import { readBody } from './http-body';
import { authorizationHeader } from './request-claim';
import type { Signer } from './signer';
import { jsonOf } from '../policy/text/json-of';

export const CALL_TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** The longest time of a timer; a longer one would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const MAY_HAVE_EFFECT = 'The request may have taken effect; retrying is safe';

export interface GatewayHttpOptions {
  /** URL of the gateway, e.g. `https://countersign.example`. A path in it is a prefix that a proxy removes. */
  readonly baseUrl: string;
  /** Signs every request. */
  readonly serviceKey: Signer;
  readonly fetch?: typeof fetch;
}

interface CallBounds {
  /** For the whole call; default 15 s. */
  readonly timeoutMs?: number;
  /** Of the response; default 1 MiB. */
  readonly maxBytes?: number;
  /** Ends the call early. */
  readonly abort?: AbortSignal;
}

/** Signed requests to a gateway. Throws CountersignError: the code that the gateway gives, or `gateway_unavailable`. */
export class GatewayHttp {
  readonly origin: string;
  readonly #base: URL;
  readonly #signer: Signer;
  readonly #fetch: typeof fetch;

  constructor(options: GatewayHttpOptions) {
    this.#base = toBase(options.baseUrl);
    this.origin = this.#base.origin;
    this.#signer = options.serviceKey;
    this.#fetch = options.fetch ?? fetch;
  }

  /** Sends a request and parses its JSON response. */
  async call<T>(
    method: string,
    pathAndQuery: string,
    body: Uint8Array | null,
    schema: z.ZodType<T>,
    bounds: CallBounds = {},
  ): Promise<T> {
    const text = await this.send(method, pathAndQuery, body, bounds);
    const parsed = schema.safeParse(jsonOf(text));
    if (parsed.success) return parsed.data;
    throw new CountersignError(
      'gateway_unavailable',
      `The response of ${this.origin} to ${method} ${pathAndQuery.split('?')[0] ?? ''} is not in the expected format; is it the address of a gateway? ${MAY_HAVE_EFFECT}`,
      { cause: parsed.error },
    );
  }

  /** As `call`; returns the text of the response. */
  async send(
    method: string,
    pathAndQuery: string,
    body: Uint8Array | null,
    { timeoutMs = CALL_TIMEOUT_MS, maxBytes = MAX_RESPONSE_BYTES, abort }: CallBounds,
  ): Promise<string> {
    const prefix = this.#base.pathname.replace(/\/$/, '');
    const url = new URL(prefix + pathAndQuery, this.#base);
    const bytes = body ?? new Uint8Array(0);
    // Without the prefix, which a proxy removes: the gateway compares this path with the one that it receives.
    const path = url.pathname.slice(prefix.length) + url.search;
    const timeout = AbortSignal.timeout(Math.min(Math.ceil(timeoutMs), MAX_TIMER_MS));
    const signal = abort === undefined ? timeout : AbortSignal.any([timeout, abort]);
    const request = (): Promise<Response> =>
      this.#fetch(url, {
        method,
        headers: {
          authorization: authorizationHeader({ method, path, bodySha256: sha256Hex(bytes) }, this.#signer, new Date()),
          ...(body === null
            ? {}
            : { 'content-type': method === 'PUT' ? 'application/octet-stream' : 'application/json' }),
        },
        ...(body === null ? {} : { body: bytes as Uint8Array<ArrayBuffer> }),
        signal,
        redirect: 'error',
      });
    let response: Response;
    let text: string;
    try {
      response = await request().catch((error: unknown) => {
        if (wasClosed(error)) return request();
        throw error;
      });
      text = new TextDecoder().decode(await readBody(response, maxBytes, signal));
    } catch (error) {
      throw new CountersignError(
        'gateway_unavailable',
        `The gateway at ${this.origin} did not answer: ${reasonOf(error)}. ${MAY_HAVE_EFFECT}`,
        { cause: error },
      );
    }
    if (!response.ok) throw refusal(response.status, text, this.origin);
    return text;
  }
}

export function json(value: unknown): Uint8Array {
  return utf8ToBytes(JSON.stringify(value));
}

const ErrorBody = z.object({
  error: z.object({ code: z.string(), field: z.string().optional(), message: z.string() }),
});

function refusal(status: number, text: string, origin: string): CountersignError {
  const body = ErrorBody.safeParse(jsonOf(text));
  if (!body.success)
    return new CountersignError(
      'gateway_unavailable',
      `${origin} responded with HTTP status ${status} and without an error code; is it the address of a gateway? ${MAY_HAVE_EFFECT}`,
    );
  const { code, field, message } = body.data.error;
  const known = ERROR_CODES.find((one) => one === code) ?? 'internal';
  return new CountersignError(known, message, field === undefined ? {} : { field });
}

function toBase(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  // `fetch` refuses it later, with the password in its message.
  if (url !== null && (url.username !== '' || url.password !== ''))
    throw invalidInput(
      'baseUrl',
      'a URL without user and password',
      'one with them',
      'The service key signs each request',
    );
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw invalidInput(
      'baseUrl',
      'an http or https URL',
      // Before an @ there can be a password.
      JSON.stringify(text.slice(text.lastIndexOf('@') + 1).slice(0, 100)),
      'Set it to the URL of the gateway',
    );
  return url;
}

/**
 * A server ends a connection that was idle for some seconds, which a busy client notices only when it sends the next request on it. Repeated
 * once, on a new connection, because every call is safe to repeat.
 */
function wasClosed(error: unknown): boolean {
  const cause: unknown = typeof error === 'object' && error !== null && 'cause' in error ? error.cause : null;
  return typeof cause === 'object' && cause !== null && 'code' in cause && CLOSED.has(String(cause.code));
}

const CLOSED: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** The error of `fetch` only says that it failed; its cause has the reason. */
function reasonOf(error: unknown): string {
  const cause = error instanceof TypeError ? error.cause : undefined;
  if (!(cause instanceof Error)) return messageOf(error);
  // The message of an error of OpenSSL, which has a `library`, names lines of its source.
  const isUnclear = cause.message === '' || 'library' in cause;
  return isUnclear && 'code' in cause ? String(cause.code) : cause.message;
}
