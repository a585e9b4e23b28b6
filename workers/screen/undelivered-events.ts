import { temporal } from '@temporalio/proto';

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
