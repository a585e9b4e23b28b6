/**
 * A proxy on loopback between the worker's core and the Temporal server, which keeps workflow tasks from the core that it cannot
 * decode, and takes queries out of workflow tasks.
 *
 * The server stores failures of any depth (temporalio/temporal#5763). The core cannot decode them, counts this as an error of the
 * poll and waits up to 10 s before the next one, so a few dozen such workflows stop all polls of a worker. No setting, converter
 * or interceptor of the SDK comes before that decoder.
 *
 * A query that is attached to a workflow task in which a local activity ended makes the core write a history that does not replay
 * (docs/decisions/0035). Without an answer to it, the server gives the query to a worker alone.
 *
 * X1 All calls pass unchanged, except those of `poisoned.ts`, whose responses are read first.
 * X2 For a poisoned task the core gets an empty poll, and `onPoisoned` is called once.
 * X3 A workflow task has no queries. A query that comes alone passes.
 * X4 Only the owner of `secret` may use the proxy, because it adds the worker's TLS identity.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import * as http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { isPoisoned, isScreened, poisonedTask, withoutQueries, type PoisonedTask, type ScreenedPath } from './poisoned';

export interface ScreeningProxyOptions {
  /** `http://host:port` or `https://host:port` of the server. */
  readonly upstream: string;
  readonly tls: http2.SecureClientSessionOptions;
  readonly onPoisoned: (task: PoisonedTask) => void;
  readonly onError: (error: unknown) => void;
}

export interface ScreeningProxy {
  readonly address: string;
  /** Headers that the worker must send with each call. */
  readonly metadata: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const SECRET_HEADER = 'countersign-screen';
const NO_CONTENT = Buffer.alloc(5);
const UNAVAILABLE = '14';
const UNAUTHENTICATED = '16';
const END_STREAM = 1;
const WINDOW_BYTES = 4 * 1024 * 1024;
const PING_MS = 30_000;
/** In MB. With the default of 10, a few histories at the limit of a response would stop new calls of the worker. */
const maxSessionMemory = 256;

export async function startScreeningProxy(options: ScreeningProxyOptions): Promise<ScreeningProxy> {
  const secret = randomBytes(32).toString('hex');
  const upstream = reconnecting(options);
  const server = http2.createServer({ maxSessionMemory, settings: { initialWindowSize: WINDOW_BYTES } });
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', options.onError);
  });
  server.on('sessionError', options.onError);
  server.on('stream', (stream, headers) => {
    stream.on('error', () => stream.close());
    if (!isEqual(headers[SECRET_HEADER], secret))
      return refuse(stream, UNAUTHENTICATED, 'not the worker of this proxy');
    try {
      forward(stream, headers, upstream.session(), options);
    } catch (error) {
      options.onError(error);
      refuse(stream, UNAVAILABLE, 'the Temporal server cannot be reached');
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    metadata: { [SECRET_HEADER]: secret },
    async close() {
      upstream.close();
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function forward(
  stream: http2.ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  session: http2.ClientHttp2Session,
  options: ScreeningProxyOptions,
): void {
  const { [SECRET_HEADER]: _secret, ':authority': _authority, host: _host, ...rest } = headers;
  const path = headers[':path'] ?? '';
  const screened = isScreened(path) ? path : null;
  if (screened !== null) delete rest['grpc-accept-encoding'];
  const request = session.request({ ...rest, ':scheme': options.upstream.startsWith('https') ? 'https' : 'http' });
  stream.pipe(request);
  // A cancelled poll must be cancelled at the server too: otherwise it would give the task to a poll that has ended.
  stream.on('close', () => {
    if (!request.closed) request.close(http2.constants.NGHTTP2_CANCEL);
  });
  request.on('error', () => {
    if (stream.headersSent) stream.close();
    else refuse(stream, UNAVAILABLE, 'connection lost');
  });
  request.on('response', (response, flags) => {
    if (stream.destroyed) return;
    const ended = (flags & END_STREAM) !== 0;
    const head = withoutConnectionHeaders(response);
    if (ended) return stream.respond(head, { endStream: true });
    let trailers: http2.IncomingHttpHeaders = {};
    request.on('trailers', (sent) => (trailers = withoutConnectionHeaders(sent)));
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.respond(head, { waitForTrailers: true });
    if (screened === null) request.pipe(stream);
    else screen(request, stream, screened, options);
  });
}

function screen(
  request: http2.ClientHttp2Stream,
  stream: http2.ServerHttp2Stream,
  path: ScreenedPath,
  options: ScreeningProxyOptions,
): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (stream.destroyed) return;
    const body = Buffer.concat(chunks);
    const message = messageIn(body);
    if (message === null) return void stream.end(body);
    if (!isPoisoned(path, message)) {
      const without = withoutQueries(path, message);
      return void stream.end(without === message ? body : framed(without));
    }
    const task = poisonedTask(path, message);
    // An empty history would be taken for a short one.
    if (task === null) return stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
    options.onPoisoned(task);
    stream.end(NO_CONTENT);
  });
}

/** The only message of a unary response: one byte for compression, four for the length, then the message. */
function messageIn(body: Buffer): Buffer | null {
  if (body.length <= 5) return null;
  const message = body.subarray(5);
  return body[0] === 1 ? gunzipSync(message) : message;
}

function framed(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function refuse(stream: http2.ServerHttp2Stream, status: string, message: string): void {
  if (stream.destroyed || stream.headersSent) return;
  const head = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': status, 'grpc-message': message };
  stream.respond(head, { endStream: true });
}

/** One connection to the server, opened again after it was lost. A ping finds a connection that died silently. */
function reconnecting({ upstream, tls, onError }: ScreeningProxyOptions) {
  let current: http2.ClientHttp2Session | null = null;
  const ping = setInterval(() => {
    const pinged = current;
    if (pinged === null || pinged.destroyed) return;
    const lost = setTimeout(() => pinged.destroy(), PING_MS / 2);
    lost.unref();
    pinged.ping(() => clearTimeout(lost));
  }, PING_MS);
  ping.unref();
  return {
    session(): http2.ClientHttp2Session {
      if (current !== null && !current.closed && !current.destroyed) return current;
      const opened = http2.connect(upstream, {
        ...tls,
        maxSessionMemory,
        settings: { initialWindowSize: WINDOW_BYTES },
      });
      opened.on('error', onError);
      opened.on('connect', () => opened.setLocalWindowSize(WINDOW_BYTES));
      // The server is about to close: calls in progress finish, new ones use a new connection.
      opened.on('goaway', () => void (current === opened && (current = null)));
      current = opened;
      return opened;
    },
    close(): void {
      clearInterval(ping);
      current?.destroy();
    },
  };
}

function withoutConnectionHeaders(
  headers: http2.IncomingHttpHeaders,
): http2.OutgoingHttpHeaders & http2.IncomingHttpHeaders {
  const { connection: _connection, 'transfer-encoding': _encoding, ...rest } = headers;
  return rest;
}

function isEqual(sent: string | string[] | undefined, secret: string): boolean {
  return (
    typeof sent === 'string' && sent.length === secret.length && timingSafeEqual(Buffer.from(sent), Buffer.from(secret))
  );
}
