import * as http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporal } from '@temporalio/proto';
import { startScreeningProxy, type ScreeningProxy } from '../../workers/screen/screening-proxy';
import type { WorkflowTask } from '../../workers/screen/workflow-task';
import { eventually } from '../support/eventually';

const { PollWorkflowTaskQueueResponse, RespondWorkflowTaskCompletedResponse, RespondWorkflowTaskFailedRequest } =
  temporal.api.workflowservice.v1;
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
let poisoned: WorkflowTask[] = [];
let refused: WorkflowTask[] = [];
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
  refused = [];
  sessions = [];
  server = http2.createServer();
  server.on('session', (session) => void sessions.push(session));
  server.on('stream', (stream, headers) => reply(stream, headers));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy = await startScreeningProxy({
    upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tls: {},
    onPoisoned: (each) => void poisoned.push(each),
    onRefusedQuery: (each) => void refused.push(each),
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

const COMPLETED_TASK = { eventType: temporal.api.enums.v1.EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED };
const ACTIVITY_ENDED = { eventType: temporal.api.enums.v1.EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED };
const EMPTY = framed(Buffer.alloc(0));
const taskOf = (token: string) => ({
  taskToken: Buffer.from(token),
  workflowExecution: { workflowId: 'id', runId: 'run' },
});
const polled = (token: string, more: object = {}): Buffer =>
  framed(PollWorkflowTaskQueueResponse.encode({ ...taskOf(token), ...more }).finish());
const poll = (): Promise<Reply> => call(service('PollWorkflowTaskQueue'), EMPTY);
/** The core answers the task of this token. */
function respond(answered: string, token: string, response = EMPTY): Promise<Reply> {
  reply = answer(response);
  return call(
    service(answered),
    framed(RespondWorkflowTaskFailedRequest.encode({ taskToken: Buffer.from(token) }).finish()),
  );
}

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
  const next = (workflowTask: object): Buffer =>
    framed(RespondWorkflowTaskCompletedResponse.encode({ workflowTask, resetHistoryEventId: 7 as never }).finish());

  test('that is attached to a workflow task is taken out of it, and nothing else is', async () => {
    reply = answer(framed(PollWorkflowTaskQueueResponse.encode(withQueries).finish()));
    const { body } = await call(service('PollWorkflowTaskQueue'), framed(Buffer.alloc(0)));
    expect(body).toEqual(framed(PollWorkflowTaskQueueResponse.encode(withoutQueries).finish()));
  });

  test('that is attached to the next task in the response to a completed one is taken out of it', async () => {
    reply = answer(next(withQueries));
    expect((await call(service('RespondWorkflowTaskCompleted'), framed(Buffer.alloc(0)))).body).toEqual(
      next(withoutQueries),
    );
  });

  test('that comes alone passes, and a second one beside it', async () => {
    for (const token of ['a', 'b']) {
      const sent = polled(token, alone);
      reply = answer(sent);
      expect((await poll()).body).toEqual(sent);
    }
    expect(refused).toEqual([]);
  });

  test('is refused while the core has a workflow task of the run, and passes when it was answered or failed', async () => {
    for (const [i, answered] of ['RespondWorkflowTaskCompleted', 'RespondWorkflowTaskFailed'].entries()) {
      reply = answer(polled(`task ${i}`));
      await poll();
      reply = answer(polled(`refused ${i}`, alone));
      expect((await poll()).body).toEqual(EMPTY);
      expect(refused.map(({ taskToken }) => Buffer.from(taskToken).toString())).toContain(`refused ${i}`);
      await respond(answered, `task ${i}`);
      const sent = polled(`passes ${i}`, alone);
      reply = answer(sent);
      expect((await poll()).body).toEqual(sent);
      await respond('RespondQueryTaskCompleted', `passes ${i}`);
    }
    expect(refused).toHaveLength(2);
  });

  test('is refused after a task that came with the answer to the last one', async () => {
    reply = answer(polled('first'));
    await poll();
    await respond('RespondWorkflowTaskCompleted', 'first', next(taskOf('second')));
    reply = answer(polled('query', alone));
    expect((await poll()).body).toEqual(EMPTY);
    expect(refused).toMatchObject([{ workflowId: 'id', runId: 'run', isQuery: true }]);
  });

  test('is refused with a history in which an event follows the last completed workflow task', async () => {
    reply = answer(polled('ahead', { ...alone, history: { events: [COMPLETED_TASK, ACTIVITY_ENDED] } }));
    expect((await poll()).body).toEqual(EMPTY);
    expect(refused).toHaveLength(1);
    const sent = polled('not ahead', { ...alone, history: { events: [ACTIVITY_ENDED, COMPLETED_TASK] } });
    reply = answer(sent);
    expect((await poll()).body).toEqual(sent);
  });

  test('of another run passes', async () => {
    reply = answer(polled('task'));
    await poll();
    const sent = polled('query', { ...alone, workflowExecution: { workflowId: 'id', runId: 'another' } });
    reply = answer(sent);
    expect((await poll()).body).toEqual(sent);
  });
});

test('a workflow task waits until the core has answered a query of the run', async () => {
  reply = answer(polled('query', { query: { queryType: 'status' } }));
  await poll();
  const sent = polled('task');
  reply = answer(sent);
  let got: Reply | null = null;
  const waiting = poll().then((each) => (got = each));
  await sleep(200);
  expect(got).toBeNull();
  await respond('RespondQueryTaskCompleted', 'query');
  expect((await waiting).body).toEqual(sent);
});

test('a second workflow task of a run is dropped if the core does not answer the first one', async () => {
  reply = answer(polled('first'));
  await poll();
  reply = answer(polled('second'));
  expect((await poll()).body).toEqual(EMPTY);
});

test('a workflow task whose poll was cancelled while it waited does not keep the run from its next task', async () => {
  reply = answer(polled('query', { query: { queryType: 'status' } }));
  await poll();
  reply = answer(polled('lost'));
  const request = client.request({ ':path': service('PollWorkflowTaskQueue'), ':method': 'POST', ...proxy.metadata });
  request.on('error', () => {});
  request.end();
  await sleep(200);
  request.close(http2.constants.NGHTTP2_CANCEL);
  await sleep(200);
  await respond('RespondQueryTaskCompleted', 'query');
  const sent = polled('task');
  reply = answer(sent);
  expect((await poll()).body).toEqual(sent);
});

test('a response that cannot be read fails its call, and later calls pass', async () => {
  reply = answer(Buffer.from([1, 0, 0, 0, 3, 1, 2, 3]));
  await expect(poll()).rejects.toThrow('NGHTTP2_REFUSED_STREAM');
  reply = answer(polled('task'));
  expect((await poll()).body).toEqual(polled('task'));
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
