import { isGrpcServiceError, type Client } from '@temporalio/client';
import { GRPC } from '../../client/temporal-errors';
import type { Logger } from '../logger';
import { RAN_AHEAD } from '../../policy/contracts/messages';
import type { WorkflowTask } from './workflow-task';

const WORKFLOW_WORKER_UNHANDLED_FAILURE = 14;
const QUERY_FAILED = 2;

/**
 * Fails a workflow task that no worker can decode, so that the server offers it again only after growing pauses. A run without a
 * completed task is terminated: it has done nothing yet, and there is no point to reset it to. The reconciler repairs the others.
 * A query is only failed.
 */
export async function disposeOf(
  task: WorkflowTask,
  temporal: Client,
  logger: Pick<Logger, 'warn' | 'error'>,
): Promise<void> {
  const { taskToken, workflowId, runId, hasCompletedTask } = task;
  const message = 'The history cannot be decoded by any worker, for example because a failure is nested too deep';
  if (task.isQuery) return failQuery(task, message, temporal, logger);
  logger.warn({ workflowId, runId, terminated: !hasCompletedTask }, message);
  try {
    if (hasCompletedTask) {
      const { namespace } = temporal.options;
      const cause = WORKFLOW_WORKER_UNHANDLED_FAILURE;
      await temporal.workflowService.respondWorkflowTaskFailed({ namespace, taskToken, cause, failure: { message } });
    } else await temporal.workflow.getHandle(workflowId, runId).terminate(message);
  } catch (error) {
    if (!isGone(error))
      logger.error({ workflowId, runId, error: String(error) }, 'A poisoned workflow task was not failed');
  }
}

/** Fails a query that must not reach the core. Its sender may repeat it. */
export async function refuseQuery(task: WorkflowTask, temporal: Client, logger: Pick<Logger, 'error'>): Promise<void> {
  await failQuery(task, `${RAN_AHEAD}: a workflow task of this run comes first. Repeat the query`, temporal, logger);
}

async function failQuery(
  task: WorkflowTask,
  errorMessage: string,
  temporal: Client,
  logger: Pick<Logger, 'error'>,
): Promise<void> {
  const { taskToken, workflowId, runId, pollerGroupId } = task;
  try {
    const { namespace } = temporal.options;
    const request = { namespace, taskToken, pollerGroupId, completedType: QUERY_FAILED, errorMessage };
    await temporal.workflowService.respondQueryTaskCompleted(request);
  } catch (error) {
    if (!isGone(error)) logger.error({ workflowId, runId, error: String(error) }, 'A query was not refused');
  }
}

/** The run ended meanwhile, or the task has timed out. */
function isGone(error: unknown): boolean {
  return isGrpcServiceError(error) ? error.code === GRPC.NOT_FOUND : String(error).includes('NotFound');
}
