import { temporal } from '@temporalio/proto';
import { EMPTY_MESSAGE, framed, messageIn } from './grpc-message';
import type { OpenTasks } from './open-tasks';
import {
  isContinued,
  isPoisoned,
  readHistory,
  taskIn,
  withoutQueries,
  type ScreenedPath,
  type WorkflowTask,
} from './workflow-task';

const { GetWorkflowExecutionHistoryResponse, PollWorkflowTaskQueueResponse } = temporal.api.workflowservice.v1;

export interface Screening {
  readonly tasks: OpenTasks<WorkflowTask>;
  readonly onPoisoned: (task: WorkflowTask) => void;
  readonly onRefusedQuery: (task: WorkflowTask) => void;
}

interface ScreenedCall {
  readonly path: ScreenedPath;
  readonly request: Buffer;
  readonly response: Buffer;
  /** Whether the core no longer waits for the response. */
  readonly isGone: () => boolean;
}

/**
 * The body that the core gets instead of `response`, which may be the same. Waits while the core has another task of the run. Null if
 * the call must fail, because an empty response would be wrong.
 */
export async function screenedResponse(call: ScreenedCall, screening: Screening): Promise<Buffer | null> {
  const { path, response, isGone } = call;
  const message = messageIn(response);
  if (message === null) return response;
  const task = taskIn(path, message);
  if (isPoisoned(path, message)) {
    // An empty history would be taken for a short one.
    for (const each of task === null ? queriesThatRead(call, screening) : [task]) screening.onPoisoned(each);
    return task === null ? null : EMPTY_MESSAGE;
  }
  if (task !== null) {
    // The core keeps a task that comes with the answer to the last one back until it is ready for it.
    if (isContinued(path)) screening.tasks.begin(task);
    else if (!(await isAdmitted(task, message, screening))) return EMPTY_MESSAGE;
    if (isGone()) screening.tasks.answered(task.taskToken);
  }
  const ahead = queriesThatRead(call, screening);
  if (ahead.length > 0 && readsAhead(call, message)) {
    for (const each of ahead) screening.onRefusedQuery(each);
    return null;
  }
  const without = withoutQueries(path, message);
  return without === message ? response : framed(without);
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

/**
 * The queries for which the core reads a history: a query that comes by the sticky queue has none, and the core may have evicted the
 * run. They stay open until the core has reported that it could not read it.
 */
function queriesThatRead({ path, request }: ScreenedCall, { tasks }: Screening): readonly WorkflowTask[] {
  const history = readHistory(path, messageIn(request));
  return history === null ? [] : tasks.onlyQueries(history.runId);
}

/** As `runsAhead`, for a history that the core reads by itself. */
function readsAhead({ path, request }: ScreenedCall, message: Uint8Array): boolean {
  const { history, nextPageToken } = GetWorkflowExecutionHistoryResponse.decode(message);
  const isWhole = readHistory(path, messageIn(request))?.isFirstPage === true && nextPageToken.length === 0;
  return isWhole && hasUndeliveredEvents(history?.events ?? []);
}

const { EventType } = temporal.api.enums.v1;

/** Events that answer a completed workflow task, or that give the workflow nothing to do. */
const DELIVERED: ReadonlySet<temporal.api.enums.v1.EventType> = new Set([
  EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED,
  EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED,
  EventType.EVENT_TYPE_TIMER_STARTED,
  EventType.EVENT_TYPE_TIMER_CANCELED,
  EventType.EVENT_TYPE_MARKER_RECORDED,
  EventType.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES,
  EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_OPTIONS_UPDATED,
]);

/** A closed run gets no workflow task, so nothing can be out of order. */
const CLOSED: ReadonlySet<temporal.api.enums.v1.EventType> = new Set([
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
]);

/**
 * True if the history may have events that no workflow task has delivered: after the last completed workflow task there are other
 * events than its own. `events` is whole and in order, or empty, as for a query that comes by the sticky queue.
 */
export function hasUndeliveredEvents(events: readonly temporal.api.history.v1.IHistoryEvent[]): boolean {
  if (events.length === 0 || CLOSED.has(typeOf(events.at(-1)))) return false;
  const before = events.findLast((event) => !DELIVERED.has(typeOf(event)));
  return typeOf(before) !== EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED;
}

const typeOf = (event: temporal.api.history.v1.IHistoryEvent | undefined): temporal.api.enums.v1.EventType =>
  event?.eventType ?? EventType.EVENT_TYPE_UNSPECIFIED;
