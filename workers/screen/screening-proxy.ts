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
 * X3 Queries that the server attached to a workflow task are removed. The server then sends each of them as a task of its own.
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
import { maxSessionMemory, reconnecting, settings, type UpstreamOptions } from './upstream';
import { answeredToken, isAnswer, isScreened, type ScreenedPath, type WorkflowTask } from './workflow-task';

interface ScreeningProxyOptions extends Omit<Screening, 'tasks'>, UpstreamOptions {}

export interface ScreeningProxy {
  readonly address: string;
  /** Headers that the worker must send with each call. */
  readonly metadata: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const SECRET_HEADER = 'countersign-screen';
/** Of the connection between core and proxy. They do not go to the server. */
const OWN_HEADERS = [SECRET_HEADER, ':authority', 'host'];
const FAILED_PRECONDITION = '9';
const UNAVAILABLE = '14';
const UNAUTHENTICATED = '16';
const END_STREAM = 1;
const LOST = { 'grpc-status': UNAVAILABLE, 'grpc-message': 'connection lost' };
/** The core repeats a call that fails with most other codes, for 10 s; it has five calls for histories in all. */
const UNREADABLE = { 'grpc-status': FAILED_PRECONDITION, 'grpc-message': 'the worker must not read this response' };

export async function startScreeningProxy(options: ScreeningProxyOptions): Promise<ScreeningProxy> {
  const secret = randomBytes(32).toString('hex');
  const secretBytes = Buffer.from(secret);
  const upstream = reconnecting(options);
  const tasks = new OpenTasks<WorkflowTask>();
  const ticking = setInterval(() => tasks.tick(), TICK_MS);
  ticking.unref();
  const server = http2.createServer({ maxSessionMemory, settings });
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', options.onError);
  });
  server.on('sessionError', options.onError);
  server.on('stream', (stream, headers) => {
    stream.on('error', () => stream.close());
    if (!isEqual(headers[SECRET_HEADER], secretBytes))
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
  server.on('error', options.onError);
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
  const path = headers[':path'] ?? '';
  const screened = isScreened(path) ? path : null;
  // The headers belong to this call alone. So they are changed and not copied, here and below.
  for (const name of OWN_HEADERS) delete headers[name];
  if (screened !== null) delete headers['grpc-accept-encoding'];
  headers[':scheme'] = options.upstream.startsWith('https') ? 'https' : 'http';
  const request = session.request(headers);
  const sent = chunksOf(stream);
  // A request is one message, so it is sent at once: that needs one frame, and no bookkeeping of a pipe.
  stream.on('end', () => request.end(Buffer.concat(sent)));
  // A cancelled poll must be cancelled at the server too: otherwise it would give the task to a poll that has ended.
  stream.on('close', () => {
    if (!request.closed) request.close(http2.constants.NGHTTP2_CANCEL);
    if (isAnswer(path)) noteAnswer(Buffer.concat(sent), options);
  });
  // A response is whole when its trailers have come. Without them 'end' only means that the connection was lost.
  const response: Response = { isWhole: false, trailers: LOST };
  request.on('error', () => undefined);
  request.on('close', () => {
    if (response.isWhole || isOver(stream)) return;
    if (stream.headersSent) stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
    else refuse(stream, UNAVAILABLE, 'connection lost');
  });
  request.on('response', (received, flags) => {
    if (isOver(stream)) return;
    const head = withoutConnectionHeaders(received);
    response.isWhole = (flags & END_STREAM) !== 0;
    if (response.isWhole) return stream.respond(head, { endStream: true });
    // Not from Temporal, but from something between, which sends no trailers.
    const isForeign = received[':status'] !== 200;
    if (isForeign) Object.assign(response, { isWhole: true, trailers: {} });
    request.on('trailers', (trailers) => {
      response.isWhole = true;
      response.trailers = withoutConnectionHeaders(trailers);
    });
    stream.on('wantTrailers', () => stream.sendTrailers(response.trailers));
    stream.respond(head, { waitForTrailers: true });
    if (screened === null || isForeign) request.pipe(stream);
    else screen({ path: screened, sent, request, stream, response }, options);
  });
}

/** What has come of a response of the server. */
interface Response {
  isWhole: boolean;
  trailers: http2.OutgoingHttpHeaders;
}

function chunksOf(stream: http2.Http2Stream): readonly Buffer[] {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return chunks;
}

/** The task counts as answered when the call has ended, even if it failed: until then the core itself keeps other tasks back. */
function noteAnswer(body: Buffer, { tasks, onError }: ScreeningProxyOptions & Screening): void {
  try {
    const message = messageIn(body);
    if (message !== null) tasks.answered(answeredToken(message));
  } catch (error) {
    onError(error);
  }
}

interface Screened {
  readonly path: ScreenedPath;
  readonly sent: readonly Buffer[];
  readonly request: http2.ClientHttp2Stream;
  readonly stream: http2.ServerHttp2Stream;
  readonly response: Response;
}

function screen({ path, sent, request, stream, response }: Screened, options: ScreeningProxyOptions & Screening): void {
  const chunks = chunksOf(request);
  const isGone = (): boolean => isOver(stream);
  request.on('close', () => {
    // Also if the response was cut off: `forward` has then failed the call.
    if (isGone()) return;
    const call = { path, request: Buffer.concat(sent), response: Buffer.concat(chunks), isGone };
    void screenedResponse(call, options)
      .catch(options.onError)
      .then((body) => {
        if (isGone()) return;
        if (body === undefined) return stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
        if (body === null) response.trailers = UNREADABLE;
        stream.end(body ?? undefined);
      });
  });
}

function isOver(stream: http2.ServerHttp2Stream): boolean {
  return stream.destroyed || stream.closed;
}

function refuse(stream: http2.ServerHttp2Stream, status: string, message: string): void {
  if (isOver(stream) || stream.headersSent) return;
  const head = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': status, 'grpc-message': message };
  stream.respond(head, { endStream: true });
}

function withoutConnectionHeaders(headers: http2.IncomingHttpHeaders): http2.IncomingHttpHeaders {
  delete headers['connection'];
  delete headers['transfer-encoding'];
  return headers;
}

function isEqual(sent: string | string[] | undefined, secret: Buffer): boolean {
  return typeof sent === 'string' && sent.length === secret.length && timingSafeEqual(Buffer.from(sent), secret);
}
