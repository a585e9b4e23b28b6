import * as http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { temporal } from '@temporalio/proto';
import { startScreeningProxy, type ScreeningProxy } from '../../workers/screen/screening-proxy';
import type { PoisonedTask } from '../../workers/screen/poisoned';
import { eventually } from '../support/eventually';

const { PollWorkflowTaskQueueResponse } = temporal.api.workflowservice.v1;
const service = (call: string): string => `/temporal.api.workflowservice.v1.WorkflowService/${call}`;
const framed = (message: Uint8Array): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};
function nested(depth: number): temporal.api.failure.v1.IFailure {
  let failure: temporal.api.failure.v1.IFailure = { message: 'inner' };
  for (let i = 0; i < depth; i++) failure = { cause: failure };
  return failure;
}
const task = (depth: number): Buffer =>
  framed(
    PollWorkflowTaskQueueResponse.encode({
      taskToken: Buffer.from('token'),
      workflowExecution: { workflowId: 'id', runId: 'run' },
      history: { events: [{ workflowExecutionStartedEventAttributes: { continuedFailure: nested(depth) } }] },
    }).finish(),
  );

let server: http2.Http2Server;
let proxy: ScreeningProxy;
let client: http2.ClientHttp2Session;
let reply: (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void;
let poisoned: PoisonedTask[] = [];
let sessions: http2.ServerHttp2Session[] = [];

const answer = (body: Buffer, trailers: http2.OutgoingHttpHeaders = { 'grpc-status': '0' }): typeof reply => {
  return (stream) => {
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.end(body);
  };
};

beforeEach(async () => {
  poisoned = [];
  sessions = [];
  server = http2.createServer();
  server.on('session', (session) => void sessions.push(session));
  server.on('stream', (stream, headers) => reply(stream, headers));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy = await startScreeningProxy({
    upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tls: {},
    onPoisoned: (each) => void poisoned.push(each),
    onError: () => {},
  });
  client = http2.connect(`http://${proxy.address}`);
});
afterEach(async () => {
  client.destroy();
  await proxy.close();
  for (const session of sessions) session.destroy();
  await new Promise((resolve) => server.close(resolve));
});

interface Reply {
  readonly headers: http2.IncomingHttpHeaders;
  readonly trailers: http2.IncomingHttpHeaders;
  readonly body: Buffer;
}

function call(path: string, body: Buffer, metadata: Readonly<Record<string, string>> = proxy.metadata): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = client.request({ ':path': path, ':method': 'POST', te: 'trailers', ...metadata });
    const chunks: Buffer[] = [];
    let [headers, trailers]: http2.IncomingHttpHeaders[] = [{}, {}];
    request.on('response', (sent) => (headers = sent));
    request.on('trailers', (sent) => (trailers = sent));
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', reject);
    request.on('close', () =>
      resolve({ headers: headers ?? {}, trailers: trailers ?? {}, body: Buffer.concat(chunks) }),
    );
    request.end(body);
  });
}

test('a call passes with its body, headers and trailers, and without the secret', async () => {
  let seen: http2.IncomingHttpHeaders = {};
  let sent = Buffer.alloc(0);
  reply = (stream, headers) => {
    seen = headers;
    stream.on('data', (chunk: Buffer) => (sent = Buffer.concat([sent, chunk])));
    stream.on('end', () => answer(Buffer.from('reply'), { 'grpc-status': '0', more: 'x' })(stream, headers));
  };
  const body = Buffer.alloc(3 * 1024 * 1024, 'q');
  const got = await call(service('SignalWorkflowExecution'), body, { ...proxy.metadata, authorization: 'Bearer x' });
  expect(got.body.toString()).toBe('reply');
  expect(got.trailers).toMatchObject({ 'grpc-status': '0', more: 'x' });
  expect(sent.equals(body)).toBe(true);
  expect(seen).toMatchObject({ authorization: 'Bearer x' });
  expect(Object.keys(seen).filter((name) => name.startsWith('countersign'))).toEqual([]);
});

test('an error of the server, which has trailers only, passes', async () => {
  reply = (stream) =>
    stream.respond({ ':status': 200, 'grpc-status': '5', 'grpc-message': 'not found' }, { endStream: true });
  const got = await call(service('PollWorkflowTaskQueue'), Buffer.alloc(0));
  expect(got.headers).toMatchObject({ 'grpc-status': '5', 'grpc-message': 'not found' });
});

test('a workflow task that can be decoded passes, and one that cannot becomes an empty poll', async () => {
  reply = answer(task(3));
  expect((await call(service('PollWorkflowTaskQueue'), Buffer.alloc(0))).body.equals(task(3))).toBe(true);
  expect(poisoned).toEqual([]);
  reply = answer(task(80));
  const got = await call(service('PollWorkflowTaskQueue'), Buffer.alloc(0));
  expect([got.body.equals(Buffer.alloc(5)), got.trailers['grpc-status']]).toEqual([true, '0']);
  expect(poisoned).toMatchObject([{ workflowId: 'id', runId: 'run', hasCompletedTask: false }]);
});

describe('a query', () => {
  const alone = { query: { queryType: 'status' } };
  const withQueries = {
    taskToken: Buffer.from('token'),
    attempt: 1,
    history: { events: [{ eventId: 1 as never }, { eventId: 200 as never }] },
    queries: { a: { queryType: '__temporal_workflow_metadata' }, b: { queryType: 'status' } },
    messages: [{ id: 'm' }],
  };
  const { queries: _queries, ...withoutQueries } = withQueries;
  const { RespondWorkflowTaskCompletedResponse } = temporal.api.workflowservice.v1;

  test('that is attached to a workflow task is taken out of it, and nothing else is', async () => {
    reply = answer(framed(PollWorkflowTaskQueueResponse.encode(withQueries).finish()));
    const { body } = await call(service('PollWorkflowTaskQueue'), framed(Buffer.alloc(0)));
    expect(body).toEqual(framed(PollWorkflowTaskQueueResponse.encode(withoutQueries).finish()));
  });

  test('that is attached to the next task in the response to a completed one is taken out of it', async () => {
    const next = (workflowTask: object): Buffer =>
      framed(RespondWorkflowTaskCompletedResponse.encode({ workflowTask, resetHistoryEventId: 7 as never }).finish());
    reply = answer(next(withQueries));
    expect((await call(service('RespondWorkflowTaskCompleted'), framed(Buffer.alloc(0)))).body).toEqual(
      next(withoutQueries),
    );
  });

  test('that comes alone passes', async () => {
    const sent = framed(PollWorkflowTaskQueueResponse.encode({ ...withoutQueries, ...alone }).finish());
    reply = answer(sent);
    expect((await call(service('PollWorkflowTaskQueue'), framed(Buffer.alloc(0)))).body).toEqual(sent);
  });
});

test('a poll that the worker cancels is cancelled at the server, so that the server gives it no task', async () => {
  let cancelled = false;
  let polled = false;
  reply = (stream) => {
    polled = true;
    stream.on('error', () => {});
    stream.on('close', () => (cancelled = true));
  };
  const request = client.request({ ':path': service('PollWorkflowTaskQueue'), ':method': 'POST', ...proxy.metadata });
  request.on('error', () => {});
  request.end();
  await eventually('the poll reached the server', () => polled);
  request.close(http2.constants.NGHTTP2_CANCEL);
  await eventually('the poll was cancelled', () => cancelled);
});

test('a caller without the secret is refused', async () => {
  reply = answer(Buffer.from('reply'));
  for (const metadata of [{}, { 'countersign-screen': 'x'.repeat(64) }]) {
    const got = await call(service('PollWorkflowTaskQueue'), Buffer.alloc(0), metadata);
    expect([got.headers['grpc-status'], got.body.length]).toEqual(['16', 0]);
  }
});

test('a lost connection to the server is opened again', async () => {
  reply = answer(Buffer.from('reply'));
  await call(service('GetSystemInfo'), Buffer.alloc(0));
  for (const session of sessions) session.destroy();
  await eventually('a call succeeds again', async () => {
    const got = await call(service('GetSystemInfo'), Buffer.alloc(0)).catch(() => null);
    return got?.body.toString() === 'reply';
  });
});
