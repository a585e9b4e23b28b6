/**
 * A proxy on loopback between the worker's core and the Temporal server. It keeps away from the core what the core cannot handle:
 * tasks that it cannot decode, and queries and second tasks of a run that would damage the history.
 *
 * The server stores failures of any depth (temporalio/temporal#5763). The core cannot decode them, counts this as an error of the
 * poll and waits up to 10 s before the next one, so a few dozen such workflows stop all polls of a worker. No setting, converter
 * or interceptor of the SDK comes before that decoder. For queries see docs/decisions/0009 and 0035.
 *
 * X1 All calls pass unchanged, except those of `workflow-task.ts`, whose responses are read first.
 * X2 For a poisoned task the core gets an empty poll, and `onPoisoned` is called once.
 * X3 A workflow task has no queries. The server gives a query without an answer to a worker alone.
 * X4 Only the owner of `secret` may use the proxy, because it adds the worker's TLS identity.
 * X5 The core has one task of a run at a time, or queries (`open-tasks.ts`). A query with events that no workflow task has delivered
 *    does not reach the core. For a refused query the core gets an empty poll, and `onRefusedQuery` is called once.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import * as http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { messageIn } from './grpc-message';
import { OpenTasks, TICK_MS } from './open-tasks';
import { screenedResponse, type Screening } from './screened-response';
import { answeredToken, isAnswer, isScreened, type ScreenedPath } from './workflow-task';

export interface ScreeningProxyOptions extends Omit<Screening, 'tasks'> {
  /** `http://host:port` or `https://host:port` of the server. */
  readonly upstream: string;
  readonly tls: http2.SecureClientSessionOptions;
  readonly onError: (error: unknown) => void;
}

export interface ScreeningProxy {
  readonly address: string;
  /** Headers that the worker must send with each call. */
  readonly metadata: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const SECRET_HEADER = 'countersign-screen';
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
  const tasks = new OpenTasks();
  const ticking = setInterval(() => tasks.tick(), TICK_MS);
  ticking.unref();
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
      forward(stream, headers, upstream.session(), { ...options, tasks });
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
      clearInterval(ticking);
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
  options: ScreeningProxyOptions & Screening,
): void {
  const { [SECRET_HEADER]: _secret, ':authority': _authority, host: _host, ...rest } = headers;
  const path = headers[':path'] ?? '';
  const screened = isScreened(path) ? path : null;
  if (screened !== null) delete rest['grpc-accept-encoding'];
  const request = session.request({ ...rest, ':scheme': options.upstream.startsWith('https') ? 'https' : 'http' });
  stream.pipe(request);
  if (isAnswer(path)) noteAnswer(stream, options.tasks);
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

/** The task counts as answered when the call has ended, whatever came of it: until then the core keeps other tasks back itself. */
function noteAnswer(stream: http2.ServerHttp2Stream, tasks: OpenTasks): void {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('close', () => {
    const message = messageIn(Buffer.concat(chunks));
    if (message !== null) tasks.answered(answeredToken(message));
  });
}

function screen(
  request: http2.ClientHttp2Stream,
  stream: http2.ServerHttp2Stream,
  path: ScreenedPath,
  options: ScreeningProxyOptions & Screening,
): void {
  const chunks: Buffer[] = [];
  const isGone = (): boolean => stream.destroyed;
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (isGone()) return;
    void screenedResponse(path, Buffer.concat(chunks), isGone, options)
      .catch(options.onError)
      .then((body) => {
        if (isGone()) return;
        if (body == null) stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
        else stream.end(body);
      });
  });
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
