/**
 * Sends one request on a new connection.
 *
 * R1 Redirects are not followed; they are returned like any other response.
 * R2 Connection, request and response share one timeout, which may have begun before the call. After it no request begins, even if the
 *    process was suspended or the machine slept.
 * R3 The result shows whether the request may have reached the server: `unsent` means that no byte of it was sent.
 */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';

interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  /** Since when the timeout runs (`startTimer`). Default: since the call. */
  readonly elapsed?: () => number;
  /** Maximum size of the response body; null: the body is not read. */
  readonly maxBytes: number | null;
  readonly signal?: AbortSignal | undefined;
}

export type HttpAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      readonly body: Buffer;
    }
  | { readonly kind: 'unsent'; readonly explanation: string }
  | { readonly kind: 'lost'; readonly explanation: string };

/**
 * Returns the milliseconds since the call, by the clock that shows more: `performance.now()` does not count the time that the machine
 * sleeps on Linux, and `Date.now()` may be set back.
 */
export function startTimer(): () => number {
  const [monotonic, wall] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - monotonic, Date.now() - wall);
}

/** Never throws. */
export function sendRequest(options: HttpRequest): Promise<HttpAnswer> {
  return new Promise((resolve) => {
    const { timeoutMs, elapsed = startTimer() } = options;
    const secure = options.url.startsWith('https:');
    let sent = false;
    let finished = false;
    const finish = (answer: HttpAnswer): void => {
      if (finished) return;
      finished = true;
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
      request.destroy();
      resolve(answer);
    };
    const fail = (explanation: string): void => finish({ kind: sent ? 'lost' : 'unsent', explanation });
    const onAbort = (): void => fail('cancelled');
    const headers = {
      'accept-encoding': 'identity',
      'user-agent': 'countersign',
      ...options.headers,
      'content-length': String(Buffer.byteLength(options.body ?? '')),
      connection: 'close',
    };
    const request = (secure ? httpsRequest : httpRequest)(options.url, {
      method: options.method,
      headers,
      agent: false,
    });
    const timer = setTimeout(() => fail(`no response within ${timeoutMs} ms`), timeoutMs - elapsed());
    request.on('error', (error) => fail(describeError(error)));
    request.on('close', () => fail('the connection closed without a response'));
    request.on('socket', (socket) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        // A process that resumes after a suspension must not send a request that another attempt has given up.
        if (finished || elapsed() >= timeoutMs) return fail('connected after the timeout');
        sent = true;
        request.end(options.body ?? '');
      });
    });
    request.on('response', (response) => {
      const { statusCode: status = 0, headers: responseHeaders } = response;
      const { maxBytes } = options;
      if (maxBytes === null)
        return finish({ kind: 'answered', status, headers: responseHeaders, body: Buffer.alloc(0) });
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) return fail(`the response is larger than ${maxBytes} bytes`);
        chunks.push(chunk);
      });
      response.on('end', () => {
        if (!response.complete) return fail('the response was truncated');
        finish({ kind: 'answered', status, headers: responseHeaders, body: Buffer.concat(chunks) });
      });
      response.on('error', (error) => fail(describeError(error)));
    });
    options.signal?.addEventListener('abort', onAbort);
    if (options.signal?.aborted === true) onAbort();
  });
}

/** Only the error code, because a message may contain the URL. */
function describeError(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? `connection failed (${code})` : 'connection failed';
}
