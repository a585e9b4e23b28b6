import { isGrpcServiceError, type Client } from '@temporalio/client';

const MAX_LISTED = 1_000;
const INVALID_ARGUMENT = 3;

/**
 * Ids of the workflows that are probably in trouble: those whose task keeps failing, and those that ended since `since`, most of which ended
 * as they should. At most 1,000 of each, the newest first. Servers before 1.30 do not report failing tasks. The list of the server lags
 * behind by about a second, and anyone who can write to the namespace can crowd it: it is a hint where to look first.
 */
export async function suspects(client: Client, since: Date): Promise<ReadonlySet<string>> {
  const ended = await list(client, `ExecutionStatus != 'Running' AND CloseTime >= '${since.toISOString()}'`);
  const failing = await list(client, `ExecutionStatus = 'Running' AND TemporalReportedProblems IS NOT NULL`).catch(
    (error: unknown): string[] => {
      if (isGrpcServiceError(error) && error.code === INVALID_ARGUMENT) return [];
      throw error;
    },
  );
  return new Set([...failing, ...ended]);
}

async function list(client: Client, filter: string): Promise<string[]> {
  const { executions } = await client.workflowService.listWorkflowExecutions({
    namespace: client.options.namespace,
    query: `WorkflowType = 'review' AND ${filter}`,
    pageSize: MAX_LISTED,
  });
  return (executions ?? []).flatMap(({ execution }) => execution?.workflowId ?? []);
}
