/** Calls of the worker while the connection to the server is lost, and histories that the core reads for a query. */
import * as http2 from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { temporal } from '@temporalio/proto';
import { startScreeningProxy, type ScreeningProxy } from '../../workers/screen/screening-proxy';
import type { WorkflowTask } from '../../workers/screen/workflow-task';

const {
  GetWorkflowExecutionHistoryRequest,
  GetWorkflowExecutionHistoryResponse,
  PollWorkflowTaskQueueResponse,
  RespondQueryTaskCompletedRequest,
} = temporal.api.workflowservice.v1;
const { EventType } = temporal.api.enums.v1;
const framed = (message: Uint8Array): Buffer => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

let server: http2.Http2Server;
let sockets: Socket[] = [];
let sessions: http2.ServerHttp2Session[] = [];
let proxy: ScreeningProxy;
let client: http2.ClientHttp2Session;
let reply: (stream: http2.ServerHttp2Stream) => void;
let poisoned: WorkflowTask[] = [];
let refused: WorkflowTask[] = [];
let errors: unknown[] = [];

beforeEach(async () => {
  [sockets, sessions, poisoned, refused, errors] = [[], [], [], [], []];
  server = http2.createServer();
  server.on('connection', (socket: Socket) => void sockets.push(socket));
  server.on('session', (session) => void sessions.push(session));
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    reply(stream);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy = await startScreeningProxy({
    upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tls: {},
    onPoisoned: (each) => void poisoned.push(each),
    onRefusedQuery: (each) => void refused.push(each),
    onError: (error) => void errors.push(error),
  });
  client = http2.connect(`http://${proxy.address}`);
});
afterEach(async () => {
  client.destroy();
  await proxy.close();
  for (const session of sessions) session.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** What came of a call: its status, that its stream was reset, or that no byte came for a while. */
function call(name: string, body: Buffer = framed(new Uint8Array())): Promise<string> {
  return new Promise((resolve) => {
    const path = `/temporal.api.workflowservice.v1.WorkflowService/${name}`;
    const request = client.request({ ':path': path, ':method': 'POST', te: 'trailers', ...proxy.metadata });
    let status = 'none';
    const note = (headers: http2.IncomingHttpHeaders): void => void (status = String(headers['grpc-status'] ?? status));
    request.on('response', note);
    request.on('trailers', note);
    request.on('data', () => {});
    request.on('error', () => (status = 'reset'));
    request.setTimeout(15_000, () => {
      status = 'no answer';
      request.destroy();
    });
    request.on('close', () => resolve(status));
    request.end(body);
  });
}

const head = { ':status': 200, 'content-type': 'application/grpc' };
function answer(message: Uint8Array): typeof reply {
  return (stream) => {
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.respond(head, { waitForTrailers: true });
    stream.end(framed(message));
  };
}
const execution = { workflowId: 'id', runId: 'run' };
const polled = (more: object): Uint8Array =>
  PollWorkflowTaskQueueResponse.encode({
    taskToken: Buffer.from('token'),
    workflowExecution: execution,
    ...more,
  }).finish();

describe.each<[string, (stream: http2.ServerHttp2Stream) => void]>([
  ['the socket is closed', () => sockets.forEach((socket) => socket.destroy())],
  ['the session is destroyed', () => sessions.forEach((session) => session.destroy())],
  ['the stream is cancelled', (stream) => stream.close(http2.constants.NGHTTP2_CANCEL)],
  ['the stream is closed', (stream) => stream.close(http2.constants.NGHTTP2_NO_ERROR)],
])('when %s', (_, lose) => {
  test.each(['PollWorkflowTaskQueue', 'StartWorkflowExecution'])(
    'before the response, %s fails at once',
    async (name) => {
      reply = (stream) => setTimeout(() => lose(stream), 50);
      expect(await call(name)).toBe('14');
    },
  );

  test.each(['PollWorkflowTaskQueue', 'StartWorkflowExecution'])(
    'within the response, %s fails, and no task counts as poisoned',
    async (name) => {
      const whole = framed(
        polled({ history: { events: [{ eventId: 1 as never }] }, nextPageToken: Buffer.alloc(9_000) }),
      );
      reply = (stream) => {
        stream.respond(head, { waitForTrailers: true });
        stream.write(whole.subarray(0, 5_000));
        setTimeout(() => lose(stream), 50);
      };
      expect(['14', 'reset']).toContain(await call(name));
      expect(poisoned).toEqual([]);
    },
  );
});

test('a response that is not from Temporal passes as it is', async () => {
  reply = (stream) => {
    stream.respond({ ':status': 403, 'content-type': 'text/html', 'grpc-status': 'none of ours' });
    stream.end('<p>\n\x05not allowed</p>');
  };
  expect(await call('PollWorkflowTaskQueue')).toBe('none of ours');
  expect(await call('StartWorkflowExecution')).toBe('none of ours');
  expect(poisoned).toEqual([]);
});

test('an answer that cannot be read is reported, and later calls pass', async () => {
  reply = answer(new Uint8Array());
  expect(await call('RespondWorkflowTaskCompleted', Buffer.from([1, 0, 0, 0, 3, 1, 2, 3]))).toBe('0');
  expect(errors.map(String).join()).toContain('incorrect header check');
  expect(await call('GetSystemInfo')).toBe('0');
});

describe('a history that the core reads', () => {
  const done = { eventType: EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED };
  const ended = { eventType: EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED };
  const history = (events: object[], more: object = {}): Uint8Array =>
    GetWorkflowExecutionHistoryResponse.encode({ history: { events }, ...more }).finish();
  const read = (message: Uint8Array, more: object = {}): Promise<string> => {
    reply = answer(message);
    const request = GetWorkflowExecutionHistoryRequest.encode({ namespace: 'default', execution, ...more });
    return call('GetWorkflowExecutionHistory', framed(request.finish()));
  };
  const poll = (more: object): Promise<string> => {
    reply = answer(polled(more));
    return call('PollWorkflowTaskQueue');
  };
  /** It comes by the sticky queue, without a history, and the core has evicted the run. */
  const query = { query: { queryType: 'status' } };

  test('for a query fails for good if it has undelivered events, and the query is refused', async () => {
    await poll(query);
    expect(await read(history([done, ended]))).toBe('9');
    expect(refused).toMatchObject([{ runId: 'run', isQuery: true }]);
    reply = answer(new Uint8Array());
    const token = { taskToken: Buffer.from('token') };
    await call('RespondWorkflowTaskFailed', framed(RespondQueryTaskCompletedRequest.encode(token).finish()));
    expect(await read(history([done, ended]))).toBe('0');
  });

  test('for a query passes if all events are delivered, or it has several pages', async () => {
    await poll(query);
    expect(await read(history([ended, done]))).toBe('0');
    expect(await read(history([done, ended], { nextPageToken: Buffer.from('x') }))).toBe('0');
    expect(await read(history([done, ended]), { nextPageToken: Buffer.from('x') })).toBe('0');
    expect(refused).toEqual([]);
  });

  test('for a workflow task passes', async () => {
    await poll({});
    expect(await read(history([done, ended]))).toBe('0');
  });

  test('that cannot be decoded fails for good, so that the core does not repeat the call, and its query is failed', async () => {
    const group = Buffer.from([15 * 8 + 3, 15 * 8 + 4]);
    expect(await read(group)).toBe('9');
    expect(poisoned).toEqual([]);
    await poll(query);
    expect(await read(group)).toBe('9');
    expect(poisoned).toMatchObject([{ runId: 'run', isQuery: true }]);
  });
});
