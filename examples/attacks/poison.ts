/** Messages that the server accepts and a worker cannot decode, or not cheaply. */
import type { temporal } from '@temporalio/proto';
import type { NamespaceWriter } from './namespace-writer';
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
    identity: 'alice@shop.example',
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
  const identity = 'alice@shop.example';
  const { workflowService: api } = connection;
  const task = await connection.withDeadline(Date.now() + 30_000, () =>
    api.pollActivityTaskQueue({ namespace, taskQueue: { name: taskQueue }, identity }),
  );
  const workflowId = task.workflowExecution?.workflowId ?? '';
  await api.respondActivityTaskFailedById({
    namespace,
    workflowId,
    activityId: task.activityId,
    identity,
    failure,
  });
}
