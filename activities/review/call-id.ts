import { activityInfo } from '@temporalio/activity';

/** Run id and activity id of the activity that runs now: the same in each of its attempts. Throws outside of an activity. */
export function activityCallId(): string {
  const { workflowExecution, activityId } = activityInfo();
  return `${workflowExecution?.runId ?? 'standalone'}/${activityId}`;
}
