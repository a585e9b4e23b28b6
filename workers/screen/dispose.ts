import { isGrpcServiceError, type Client } from '@temporalio/client';
import type { Logger } from '../logger';
import type { PoisonedTask } from './poisoned';

const WORKFLOW_WORKER_UNHANDLED_FAILURE = 14;
const NOT_FOUND = 5;

/**
 * Fails a workflow task that no worker can decode, so that the server offers it again only after growing pauses. A run without a
 * completed task is terminated: it has done nothing yet, and there is no point to reset it to. The reconciler repairs the others.
 */
export async function disposeOf(
  task: PoisonedTask,
  temporal: Client,
  logger: Pick<Logger, 'warn' | 'error'>,
): Promise<void> {
  const { taskToken, workflowId, runId, hasCompletedTask } = task;
  const message = 'The history cannot be decoded by any worker, for example because a failure is nested too deep';
  logger.warn({ workflowId, runId, terminated: !hasCompletedTask }, message);
  try {
    if (hasCompletedTask) {
      const { namespace } = temporal.options;
      const cause = WORKFLOW_WORKER_UNHANDLED_FAILURE;
      await temporal.workflowService.respondWorkflowTaskFailed({ namespace, taskToken, cause, failure: { message } });
    } else await temporal.workflow.getHandle(workflowId, runId).terminate(message);
  } catch (error) {
    // The run ended meanwhile, or the task has timed out.
    const gone = isGrpcServiceError(error) ? error.code === NOT_FOUND : String(error).includes('NotFound');
    if (!gone) logger.error({ workflowId, runId, error: String(error) }, 'A poisoned workflow task was not failed');
  }
}
