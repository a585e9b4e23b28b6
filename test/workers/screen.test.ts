import { temporal } from '@temporalio/proto';
import { disposeOf } from '../../workers/screen/dispose';
import { isPoisoned, isScreened, taskIn, type ScreenedPath } from '../../workers/screen/workflow-task';

const { PollWorkflowTaskQueueResponse, RespondWorkflowTaskCompletedResponse } = temporal.api.workflowservice.v1;
type Failure = temporal.api.failure.v1.IFailure;
const service = (call: string): ScreenedPath =>
  `/temporal.api.workflowservice.v1.WorkflowService/${call}` as ScreenedPath;
const POLL = service('PollWorkflowTaskQueue');
const text = (value: string): Uint8Array => Buffer.from(value);
const payload = { metadata: { encoding: text('json/plain') }, data: text('{"a":[1,"é"]}') };

function failure(depth: number): Failure {
  let nested: Failure = { message: 'inner', applicationFailureInfo: { type: 'x', details: { payloads: [payload] } } };
  for (let i = 0; i < depth; i++) nested = { message: 'outer', timeoutFailureInfo: { timeoutType: 1 }, cause: nested };
  return nested;
}

const task = (depth: number, previousStartedEventId = 0) => ({
  taskToken: text('token'),
  workflowExecution: { workflowId: 'id', runId: 'run' },
  workflowType: { name: 'review' },
  previousStartedEventId: previousStartedEventId as never,
  attempt: 3,
  queries: { q: { queryType: 'status', queryArgs: { payloads: [payload] } } },
  history: {
    events: [
      {
        eventId: 1 as never,
        eventTime: { seconds: 1 as never, nanos: 5 },
        eventType: 1,
        workflowExecutionStartedEventAttributes: {
          workflowType: { name: 'review' },
          input: { payloads: [payload] },
          continuedFailure: failure(depth),
          searchAttributes: { indexedFields: { CountersignStatus: payload } },
          retryPolicy: { backoffCoefficient: 2, nonRetryableErrorTypes: ['a', 'b'] },
        },
      },
    ],
  },
});
const poll = (depth: number): Uint8Array => PollWorkflowTaskQueueResponse.encode(task(depth)).finish();
/** A field of wire type BYTES. Only short contents. */
const bytesField = (number: number, content: Uint8Array): Uint8Array =>
  Buffer.concat([Buffer.from([number * 8 + 2, content.length]), content]);
/** A poll response with one signal event whose payload is these bytes. */
const signalled = (rawPayload: Uint8Array): Uint8Array =>
  // response.history(8).events(1).workflow_execution_signaled_event_attributes(26).input(2).payloads(1)
  bytesField(
    8,
    bytesField(
      1,
      Buffer.concat([
        Buffer.from([0xd2, 0x01]),
        ((inner) => Buffer.concat([Buffer.from([inner.length]), inner]))(bytesField(2, bytesField(1, rawPayload))),
      ]),
    ),
  );

test('a workflow task that the core can decode is passed on', () => {
  expect(isPoisoned(POLL, poll(0))).toBe(false);
  expect(isPoisoned(POLL, poll(20))).toBe(false);
  expect(isPoisoned(POLL, signalled(bytesField(2, text('"plain"'))))).toBe(false);
  expect(isPoisoned(POLL, new Uint8Array())).toBe(false);
});

test('a failure that is nested deeper than any decoder accepts is taken out, wherever its task arrives', () => {
  expect(isPoisoned(POLL, poll(90))).toBe(true);
  const inline = RespondWorkflowTaskCompletedResponse.encode({ workflowTask: task(90, 7) }).finish();
  expect(isPoisoned(service('RespondWorkflowTaskCompleted'), inline)).toBe(true);
  expect(isScreened(service('GetWorkflowExecutionHistory'))).toBe(true);
  expect(taskIn(service('RespondWorkflowTaskCompleted'), inline)).toMatchObject({ hasCompletedTask: true });
});

test('the token and the run of a task are read although it cannot be decoded', () => {
  const read = taskIn(POLL, poll(90));
  expect(read).toMatchObject({ workflowId: 'id', runId: 'run', hasCompletedTask: false });
  expect(Buffer.from(read?.taskToken ?? []).toString()).toBe('token');
});

test('bytes that only look nested are passed on: a payload is not a message', () => {
  let nested: Uint8Array = new Uint8Array();
  for (let i = 0; i < 60; i++) nested = bytesField(4, nested);
  expect(isPoisoned(POLL, signalled(bytesField(2, nested.subarray(0, 100))))).toBe(false);
});

test.each([
  ['a known field with another wire type', Buffer.from([2 * 8, 1])],
  ['a group', Buffer.from([200 - 200 + 15 * 8 + 3, 15 * 8 + 4])],
  ['a field that ends after its message', Buffer.from([2 * 8 + 2, 50, 1])],
])('%s in a payload, which the server passes on and the core refuses, is taken out', (_, raw) => {
  expect(isPoisoned(POLL, signalled(raw))).toBe(true);
});

test('a query with a history that cannot be decoded is failed, and the run is neither reset nor terminated', async () => {
  const calls: object[] = [];
  const client = {
    options: { namespace: 'default' },
    workflowService: { respondQueryTaskCompleted: async (request: object) => void calls.push(request) },
  };
  const query = {
    taskToken: text('token'),
    workflowId: 'id',
    runId: 'run',
    hasCompletedTask: false,
    isQuery: true,
    pollerGroupId: 'group',
  };
  const unexpected = (): never => {
    throw new Error('not expected');
  };
  await disposeOf(query, client as never, { warn: unexpected, error: unexpected });
  expect(calls).toEqual([
    {
      namespace: 'default',
      taskToken: query.taskToken,
      pollerGroupId: 'group',
      completedType: 2,
      errorMessage: expect.stringContaining('cannot be decoded') as string,
    },
  ]);
});
