import { temporal } from '@temporalio/proto';
import { EMPTY_MESSAGE, framed, messageIn } from './grpc-message';
import type { OpenTasks } from './open-tasks';
import { hasUndeliveredEvents } from './undelivered-events';
import { isContinued, isPoisoned, taskIn, withoutQueries, type ScreenedPath, type WorkflowTask } from './workflow-task';

const { PollWorkflowTaskQueueResponse } = temporal.api.workflowservice.v1;

export interface Screening {
  readonly tasks: OpenTasks;
  readonly onPoisoned: (task: WorkflowTask) => void;
  readonly onRefusedQuery: (task: WorkflowTask) => void;
}

/**
 * The body that the core gets instead of `body`, which may be the same. Waits while the core has another task of the run. Null if the
 * call must fail, because an empty response would be wrong. `isGone` tells whether the core still waits for the response.
 */
export async function screenedResponse(
  path: ScreenedPath,
  body: Buffer,
  isGone: () => boolean,
  screening: Screening,
): Promise<Buffer | null> {
  const message = messageIn(body);
  if (message === null) return body;
  const task = taskIn(path, message);
  if (isPoisoned(path, message)) {
    // An empty history would be taken for a short one.
    if (task === null) return null;
    screening.onPoisoned(task);
    return EMPTY_MESSAGE;
  }
  if (task !== null) {
    // The core keeps a task that comes with the answer to the last one back until it is ready for it.
    if (isContinued(path)) screening.tasks.begin(task);
    else if (!(await isAdmitted(task, message, screening))) return EMPTY_MESSAGE;
    if (isGone()) screening.tasks.answered(task.taskToken);
  }
  const without = withoutQueries(path, message);
  return without === message ? body : framed(without);
}

async function isAdmitted(task: WorkflowTask, message: Uint8Array, screening: Screening): Promise<boolean> {
  if (!task.isQuery) return screening.tasks.admit(task);
  if (!runsAhead(message) && (await screening.tasks.admit(task))) return true;
  screening.onRefusedQuery(task);
  return false;
}

/** False for a history of several pages: workflows/refuse-run-ahead.ts judges those. */
function runsAhead(message: Uint8Array): boolean {
  const { history, nextPageToken } = PollWorkflowTaskQueueResponse.decode(message);
  return nextPageToken.length === 0 && hasUndeliveredEvents(history?.events ?? []);
}
