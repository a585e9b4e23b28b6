import { activityInfo } from '@temporalio/activity';

/** Run id and activity id of the current activity: the same for each of its attempts. Throws outside an activity. */
export function activityCallId(): string {
  const { workflowExecution, activityId } = activityInfo();
  return `${workflowExecution?.runId ?? 'standalone'}/${activityId}`;
}
