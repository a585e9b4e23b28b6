/**
 * A gRPC proxy between a workflow worker and the Temporal server, which changes no message. While `hold` is in effect it keeps back
 * the polls for workflow tasks, as a worker does whose slots are all in use, and passes them on one at a time. `holdQueries` keeps back
 * polls that brought a query, as a slow connection does.
 */
import * as http2 from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { temporal } from '@temporalio/proto';
import { listenOnLoopback } from '../../dev/fixtures/loopback-server';

const { PollWorkflowTaskQueueRequest, PollWorkflowTaskQueueResponse } = temporal.api.workflowservice.v1;
const { TASK_QUEUE_KIND_STICKY } = temporal.api.enums.v1.TaskQueueKind;
const POLL = '/temporal.api.workflowservice.v1.WorkflowService/PollWorkflowTaskQueue';

/** A task that a poll brought. */
export interface Polled {
  readonly workflowId: string;
  readonly isQuery: boolean;
}

export interface PollProxy {
  readonly address: string;
  readonly polled: readonly Polled[];
  hold(): void;
  /** Passes all held polls on, and those to come. */
  release(): void;
  /** Passes one held poll of the normal queue on. False if there is none. */
  releaseOne(): boolean;
  /** Keeps queries back that have been polled. Returns a function that passes them on. */
  holdQueries(): () => void;
  close(): Promise<void>;
}

interface Poll {
  readonly sticky: boolean;
  readonly send: () => http2.ClientHttp2Stream;
  /** Null while the poll is held. */
  upstream: http2.ClientHttp2Stream | null;
}

export async function startPollProxy(serverAddress: string): Promise<PollProxy> {
  const polled: Polled[] = [];
  const polls = new Set<Poll>();
  const upstream = http2.connect(`http://${serverAddress}`);
  const server = http2.createServer();
  const sessions = new Set<http2.ServerHttp2Session>();
  let held = false;
  let queriesPass = Promise.resolve();
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => stream.close());
    const { ':authority': _authority, host: _host, 'grpc-accept-encoding': _encoding, ...rest } = headers;
    const send = (body: Buffer): http2.ClientHttp2Stream => {
      const request = upstream.request(rest);
      request.end(body);
      return request;
    };
    void readAll(stream).then((body) => {
      if (headers[':path'] !== POLL) return answer(stream, send(body));
      const { taskQueue } = PollWorkflowTaskQueueRequest.decode(messageIn(body));
      const poll: Poll = {
        sticky: taskQueue?.kind === TASK_QUEUE_KIND_STICKY,
        send: () => answer(stream, send(body), note),
        upstream: null,
      };
      polls.add(poll);
      stream.on('close', () => {
        polls.delete(poll);
        poll.upstream?.close(http2.constants.NGHTTP2_CANCEL);
      });
      if (!held) poll.upstream = poll.send();
    });
  });
  const note = (message: Buffer): Promise<void> | null => {
    const { taskToken, workflowExecution, query } = PollWorkflowTaskQueueResponse.decode(message);
    if (taskToken.length > 0) polled.push({ workflowId: workflowExecution?.workflowId ?? '', isQuery: query != null });
    return query == null ? null : queriesPass;
  };
  const port = await listenOnLoopback(server);
  const waiting = (): Poll[] => [...polls].filter((poll) => poll.upstream === null);
  return {
    address: `127.0.0.1:${port}`,
    polled,
    hold() {
      held = true;
      for (const poll of polls) {
        const request = poll.upstream;
        poll.upstream = null;
        request?.close(http2.constants.NGHTTP2_CANCEL);
      }
    },
    release() {
      held = false;
      for (const poll of waiting()) poll.upstream = poll.send();
    },
    releaseOne() {
      const poll = waiting().find(({ sticky }) => !sticky);
      if (poll !== undefined) poll.upstream = poll.send();
      return poll !== undefined;
    },
    holdQueries() {
      let pass = (): void => {};
      queriesPass = new Promise((resolve) => (pass = resolve));
      return pass;
    },
    async close() {
      upstream.destroy();
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Copies the response. One that was cancelled, because its poll is held again, is dropped. */
function answer(
  stream: http2.ServerHttp2Stream,
  request: http2.ClientHttp2Stream,
  /** The response waits for what it returns. */
  read: (message: Buffer) => Promise<void> | null = () => null,
): http2.ClientHttp2Stream {
  request.on('error', () => {});
  request.on('response', (head, flags) => {
    if (stream.destroyed) return;
    if ((flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0) return stream.respond(head, { endStream: true });
    let trailers: http2.IncomingHttpHeaders = {};
    request.on('trailers', (sent) => (trailers = sent));
    void readAll(request).then(async (body) => {
      if (stream.destroyed || request.rstCode !== http2.constants.NGHTTP2_NO_ERROR) return;
      if (body.length > 5) await read(messageIn(body));
      if (stream.destroyed) return;
      stream.on('wantTrailers', () => stream.sendTrailers(trailers));
      stream.respond(head, { waitForTrailers: true });
      stream.end(body);
    });
  });
  return request;
}

/** Resolves when the stream ends; an aborted one gives what has arrived. */
function readAll(stream: http2.Http2Stream): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => resolve(Buffer.concat(chunks)));
  });
}

/** The message of a unary call: one byte for compression, four for the length, then the message. */
function messageIn(body: Buffer): Buffer {
  return body[0] === 1 ? gunzipSync(body.subarray(5)) : body.subarray(5);
}
