import { userInfo } from 'node:os';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { CountersignError } from '../../client/errors';
import { toTemporalProblem } from '../../client/temporal-errors';
import {
  BREAKER_MESSAGES,
  BREAKER_WORKFLOW,
  breakerWorkflowId,
  type BreakersReading,
  type ReadArgument,
  type ResetMessage,
  type ResetResult,
} from '../../policy/decide/breaker-messages';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import type { Env } from '../../workers/config';
import { localClient } from '../../workers/local-client';
import { openClient } from '../../workers/temporal';

/** There is one workflow for each tenant and source tool: one page is enough. */
const MAX_WORKFLOWS = 1_000;
const CALL_TIMEOUT_MS = 5_000;

export interface BreakerReset {
  readonly tenant: string;
  readonly sourceTool: string;
  /** Null: all validators. */
  readonly validatorId: string | null;
  /** Null: the user who is logged in. */
  readonly actor: string | null;
  readonly reason: string;
}

/** Every breaker that has a workflow, sorted by tenant and source tool. */
export async function listBreakers(env: Env): Promise<readonly BreakersReading[]> {
  return await withTemporal(env, async (temporal, taskQueue) => {
    const prefix = breakerWorkflowId({ tenant: '', sourceTool: '' }, taskQueue).slice(0, -1);
    const ids = await call(temporal, () => workflowIds(temporal, prefix));
    const listed: BreakersReading[] = [];
    for (const id of ids) {
      const handle = temporal.workflow.getHandle(id);
      const query = () => handle.query<BreakersReading, [ReadArgument]>(BREAKER_MESSAGES.read, 'all');
      listed.push(await call(temporal, query));
    }
    return listed;
  });
}

async function workflowIds(temporal: Client, prefix: string): Promise<string[]> {
  const ids: string[] = [];
  const query = `WorkflowType = '${BREAKER_WORKFLOW}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of temporal.workflow.list({ query, pageSize: MAX_WORKFLOWS })) {
    if (workflowId.startsWith(prefix)) ids.push(workflowId);
    if (ids.length >= MAX_WORKFLOWS) break;
  }
  return ids.sort();
}

/** Returns the ids of the validators whose breakers were reset. */
export async function resetBreakers(env: Env, reset: BreakerReset): Promise<readonly string[]> {
  return await withTemporal(env, async (temporal, taskQueue) => {
    const { tenant, sourceTool, validatorId, reason } = reset;
    const handle = temporal.workflow.getHandle(breakerWorkflowId({ tenant, sourceTool }, taskQueue));
    const message = { validatorId, actor: reset.actor ?? userInfo().username, reason };
    const result = await call(temporal, () =>
      handle.executeUpdate<ResetResult, [ResetMessage]>(BREAKER_MESSAGES.reset, { args: [message] }),
    );
    if (result.code === 'malformed') throw new CountersignError('invalid_input', result.message);
    return result.reset;
  });
}

async function withTemporal<T>(env: Env, work: (temporal: Client, taskQueue: string) => Promise<T>): Promise<T> {
  const local = localClient(env);
  const temporal = openClient({ ...env, TEMPORAL_ADDRESS: local.temporalAddress, TEMPORAL_NAMESPACE: local.namespace });
  try {
    return await work(temporal, TASK_QUEUES.review + (env['COUNTERSIGN_QUEUE_SUFFIX'] ?? ''));
  } finally {
    await temporal.connection.close();
  }
}

async function call<T>(temporal: Client, request: () => Promise<T>): Promise<T> {
  try {
    return await temporal.withDeadline(Date.now() + CALL_TIMEOUT_MS, request);
  } catch (error) {
    throw toError(error);
  }
}

function toError(error: unknown): CountersignError {
  if (error instanceof WorkflowNotFoundError)
    return new CountersignError('not_found', 'No breaker: no review of this tenant and source tool has ended yet', {
      cause: error,
    });
  const problem = toTemporalProblem(error);
  const message = 'message' in problem ? problem.message : 'No answer';
  const code = problem.kind === 'no_worker' ? 'worker_unavailable' : 'temporal_unavailable';
  return new CountersignError(code, `The breakers could not be reached: ${message}`, { cause: error });
}
