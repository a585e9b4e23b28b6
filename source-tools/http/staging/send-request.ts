/**
 * One request on a connection of its own.
 *
 * R1 Nothing is followed: a redirect is an answer like any other.
 * R2 Connection, request and answer share one time limit; past it not a byte more goes out, however long this process slept.
 * R3 What comes back says whether the request can have reached the server: `unsent` means that no byte of it went out.
 */
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  /** Of the answer's body; null: the body is not read. */
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

/** Never throws. */
export function sendRequest(options: HttpRequest): Promise<HttpAnswer> {
  return new Promise((resolve) => {
    const until = performance.now() + options.timeoutMs;
    const secure = options.url.startsWith('https:');
    let sent = false;
    let over = false;
    const finish = (answer: HttpAnswer): void => {
      if (over) return;
      over = true;
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
    const timer = setTimeout(() => fail(`no answer in ${options.timeoutMs} ms`), options.timeoutMs);
    request.on('error', (error) => fail(wordsOf(error)));
    request.on('close', () => fail('the connection closed without an answer'));
    request.on('socket', (socket) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        // A process that was stopped and goes on must not send what others have given up.
        if (over || performance.now() >= until) return fail('connected too late');
        sent = true;
        request.end(options.body ?? '');
      });
    });
    request.on('response', (response) => {
      const { statusCode: status = 0, headers: said } = response;
      const { maxBytes } = options;
      if (maxBytes === null) return finish({ kind: 'answered', status, headers: said, body: Buffer.alloc(0) });
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) return fail(`an answer of more than ${maxBytes} bytes`);
        chunks.push(chunk);
      });
      response.on('end', () => {
        if (!response.complete) return fail('the answer was cut off');
        finish({ kind: 'answered', status, headers: said, body: Buffer.concat(chunks) });
      });
      response.on('error', (error) => fail(wordsOf(error)));
    });
    options.signal?.addEventListener('abort', onAbort);
    if (options.signal?.aborted === true) onAbort();
  });
}

/** Codes only: a message may quote the address with what is in it. */
function wordsOf(error: Error): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? `connection failed (${code})` : 'connection failed';
}
