import { isGrpcServiceError, type Client } from '@temporalio/client';
import { GRPC } from '../../client/temporal-errors';

const MAX_LISTED = 1_000;

/** Ids of workflows, as the server lists them. */
export interface Suspects {
  /** Their task keeps failing. Servers before 1.30 do not report it. */
  readonly failing: ReadonlySet<string>;
  /** They ended since the last look, most of them as they should. */
  readonly ended: ReadonlySet<string>;
}

/**
 * The workflows that are probably in trouble. At most 1,000 of each, the newest first. The list of the server lags behind by about a
 * second, and anyone who can write to the namespace can crowd it: it is a hint where to look first.
 */
export async function suspects(client: Client, since: Date): Promise<Suspects> {
  const ended = await list(client, `ExecutionStatus != 'Running' AND CloseTime >= '${since.toISOString()}'`);
  const failing = await list(client, `ExecutionStatus = 'Running' AND TemporalReportedProblems IS NOT NULL`).catch(
    (error: unknown): string[] => {
      if (isGrpcServiceError(error) && error.code === GRPC.INVALID_ARGUMENT) return [];
      throw error;
    },
  );
  return { failing: new Set(failing), ended: new Set(ended) };
}

async function list(client: Client, filter: string): Promise<string[]> {
  const { executions } = await client.workflowService.listWorkflowExecutions({
    namespace: client.options.namespace,
    query: `WorkflowType = 'review' AND ${filter}`,
    pageSize: MAX_LISTED,
  });
  return (executions ?? []).flatMap(({ execution }) => execution?.workflowId ?? []);
}
