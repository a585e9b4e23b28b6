/** Messages that the server accepts and a worker cannot decode, or not cheaply. */
import { connect, type IncomingHttpHeaders } from 'node:http2';
import type { temporal } from '@temporalio/proto';
import { IDENTITY, type NamespaceWriter } from './namespace-writer';
import { TASK_QUEUES } from '../../policy/contracts/queues';

type Failure = temporal.api.failure.v1.IFailure;

/** A failure with `depth` causes below it. Decoders of protocol buffers refuse messages nested about 100 deep. */
export function nestedFailure(depth: number): Failure {
  let failure: Failure = { message: 'inner', applicationFailureInfo: {} };
  for (let i = 0; i < depth; i++) failure = { message: 'outer', applicationFailureInfo: {}, cause: failure };
  return failure;
}

/** Starts a workflow of our type on our queue whose start event has this failure, as a retried run has. */
export async function startWithFailure(
  { connection, namespace }: NamespaceWriter,
  workflowId: string,
  continuedFailure: Failure,
): Promise<void> {
  await connection.workflowService.startWorkflowExecution({
    namespace,
    workflowId,
    requestId: workflowId,
    identity: IDENTITY,
    workflowType: { name: 'review' },
    taskQueue: { name: TASK_QUEUES.review },
    continuedFailure,
  });
}

/** Polls an activity queue once and fails the activity by its id. */
export async function failNextActivity(
  { connection, namespace }: NamespaceWriter,
  taskQueue: string,
  failure: Failure,
): Promise<void> {
  const { workflowService: api } = connection;
  const task = await connection.withDeadline(Date.now() + 30_000, () =>
    api.pollActivityTaskQueue({ namespace, taskQueue: { name: taskQueue }, identity: IDENTITY }),
  );
  const workflowId = task.workflowExecution?.workflowId ?? '';
  await api.respondActivityTaskFailedById({
    namespace,
    workflowId,
    activityId: task.activityId,
    identity: IDENTITY,
    failure,
  });
}

/**
 * Signals with a payload whose field `data` has the wire type of a number. The server keeps it as an unknown field and passes it
 * on; the core of a worker refuses the whole message. Sent without a client, because none can write it.
 */
export async function signalUndecodable(
  { namespace }: NamespaceWriter,
  address: string,
  workflowId: string,
): Promise<void> {
  const payload = Buffer.from([2 * 8, 1]);
  const request = Buffer.concat([
    field(1, Buffer.from(namespace)),
    field(2, field(1, Buffer.from(workflowId))),
    field(3, Buffer.from('answer')),
    field(4, field(1, payload)),
    field(5, Buffer.from(IDENTITY)),
  ]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(request.length, 1);
  const session = connect(`http://${address}`);
  try {
    await new Promise<void>((resolve, reject) => {
      session.on('error', reject);
      const stream = session.request({
        ':method': 'POST',
        ':path': '/temporal.api.workflowservice.v1.WorkflowService/SignalWorkflowExecution',
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      const done = (headers: IncomingHttpHeaders): void => {
        const status = headers['grpc-status'];
        if (status === '0') resolve();
        else if (status !== undefined)
          reject(new Error(`The signal was refused: ${String(headers['grpc-message'] ?? status)}`));
      };
      stream.on('response', done);
      stream.on('trailers', done);
      stream.on('error', reject);
      stream.resume();
      stream.end(Buffer.concat([head, request]));
    });
  } finally {
    session.destroy();
  }
}

/** A field of bytes, text or a message. */
function field(number: number, content: Buffer): Buffer {
  if (content.length > 0x7f) throw new RangeError('only short fields are written here');
  return Buffer.concat([Buffer.from([number * 8 + 2, content.length]), content]);
}
